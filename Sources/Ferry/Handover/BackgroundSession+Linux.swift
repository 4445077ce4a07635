#if os(Linux)
    import FerryEngine

    /// No service of this system transfers for an app.
    enum BackgroundSession {
        static func make(
            for configuration: DownloadManager.Configuration
        ) -> @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? {
            { _ in nil }
        }

        /// Calls the body: no app is suspended.
        static func expiringActivity(_ body: () async -> Void) async { await body() }
    }
#endif
