#if canImport(Glibc)
    extension HostLookup {
        /// EAI_NODATA and EAI_ADDRFAMILY, which glibc hides from strict programs.
        static let hiddenLastingCodes: [CInt] = [-5, -9]
    }
#endif
