#if canImport(Glibc)
    import Glibc

    extension HostLookup {
        /// EAI_NODATA and EAI_ADDRFAMILY, which glibc declares for `_GNU_SOURCE` only.
        static let hiddenLastingCodes: [CInt] = [-5, -9]
    }
#endif
