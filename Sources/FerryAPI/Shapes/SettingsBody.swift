package import FerryCore

/// The effective settings of the daemon, or of one session, where null means the daemon's value.
package struct SettingsBody: Codable, Sendable, Hashable {
    /// `daemon` or `session`.
    package var scope: String
    package var maxConcurrentDownloads: Int?
    package var rateLimit: ByteCount?
    package var connectionsPerHost: Int?
    package var allowsMetered: Bool?
    package var allowsConstrained: Bool?
    /// The user's override of network detection: `metered`, `unmetered`; null for none.
    package var networkAssumption: String?
    /// The delay in seconds after which a failed download is retried automatically; null for never.
    package var retriesFailedAfter: Double?
    /// The free disk space to keep; null for 1 % of a file system, at most 256 MB.
    package var minFreeBytes: ByteCount?
    /// The proxy without its credentials, or `none`; null for the proxies in the daemon's environment.
    package var proxy: String?
    /// The default destination directory.
    package var directory: String

    package init(scope: String, directory: String) {
        self.scope = scope
        self.directory = directory
    }
}

/// The body of `PATCH /settings`; omitted members are unchanged. Null stands for no limit, or in a session for the daemon's
/// value.
package struct SettingsChange: ClientBody, Encodable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case maxConcurrentDownloads, rateLimit, connectionsPerHost, allowsMetered, allowsConstrained, networkAssumption
        case retriesFailedAfter, minFreeBytes, proxy, directory
    }

    package var maxConcurrentDownloads = Amendment<Int>.unchanged
    package var rateLimit = Amendment<ByteCount>.unchanged
    package var connectionsPerHost = Amendment<Int>.unchanged
    package var allowsMetered = Amendment<Bool>.unchanged
    package var allowsConstrained = Amendment<Bool>.unchanged
    package var networkAssumption = Amendment<String>.unchanged
    package var retriesFailedAfter = Amendment<Double>.unchanged
    package var minFreeBytes = Amendment<ByteCount>.unchanged
    /// Unix socket only.
    package var proxy = Amendment<String>.unchanged
    /// Unix socket only.
    package var directory: String?

    package init() {}
}
