#if canImport(Glibc)
    import Glibc

    extension HostLookup {
        /// EAI_NODATA and EAI_ADDRFAMILY, which glibc declares only for `_GNU_SOURCE`.
        static let hiddenLastingCodes: [CInt] = [-5, -9]
    }
#endif
