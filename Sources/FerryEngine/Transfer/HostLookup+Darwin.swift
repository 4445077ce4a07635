#if canImport(Darwin)
    import Darwin

    extension HostLookup {
        /// Codes beside EAI_NONAME that stay the same when asked again.
        static let hiddenLastingCodes: [CInt] = [EAI_NODATA]
    }
#endif
