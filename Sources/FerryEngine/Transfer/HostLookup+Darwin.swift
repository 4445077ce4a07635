#if canImport(Darwin)
    import Darwin

    extension HostLookup {
        /// Codes beside EAI_NONAME for which a retry has the same result.
        static let hiddenLastingCodes: [CInt] = [EAI_NODATA]
    }
#endif
