#if os(Linux)
    import FerryEngine

    /// A stand-in for the background session, because this system has no service that transfers files for an app.
    enum BackgroundSession {
        static func make(
            for configuration: DownloadManager.Configuration
        ) -> @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? {
            { _ in nil }
        }

        /// Calls `body`; this system does not suspend apps.
        static func expiringActivity(_ body: () async -> Void) async { await body() }
    }
#endif
