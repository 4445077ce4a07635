extension DownloadManager {
    /// What a manager is allowed, and how it connects.
    public struct Configuration: Sendable {
        /// Keeps nothing but the journals beside the part files: for one-shot programs.
        public static var ephemeral: Configuration { Configuration() }

        /// Downloads that run at a time; the rest waits. Default 3, at least 1.
        public var maxConcurrentDownloads = 3
        /// Bytes per second over all downloads; `nil` for no limit.
        public var rateLimit: ByteCount?
        /// Free space that is left on the disk. Default 256 MB.
        public var minFreeBytes: ByteCount = 256_000_000
        /// A connection that brings less than 1 KB in this time is cut; also the limit for a head. Default 60 s.
        public var stallTimeout: Duration = .seconds(60)
        /// Consecutive attempts without progress; `nil` for no end. Default 10.
        public var maxAttempts: Int? = 10
        /// How connections are made. Fixed once the manager has made the first.
        public var transfer = TransferSettings()

        init() {}
    }
}
