#if canImport(Darwin)
    import Darwin

    extension HostLookup {
        /// Codes other than EAI_NONAME for which a retry has the same result.
        static let hiddenLastingCodes: [CInt] = [EAI_NODATA]
    }
#endif
