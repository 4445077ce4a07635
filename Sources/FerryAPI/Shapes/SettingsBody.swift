package import FerryCore

/// The effective settings of the daemon, or of one session, where null means the daemon's value.
package struct SettingsBody: Sendable, Hashable {
    /// `daemon` or `session`.
    package var scope: String
    package var maxConcurrentDownloads: Int?
    package var rateLimit: ByteCount?
    package var connectionsPerHost: Int?
    package var allowsMetered: Bool?
    package var allowsConstrained: Bool?
    /// The user's override of network detection: `metered`, `unmetered`; null for none.
    package var networkAssumption: String?
    /// Seconds; null for never.
    package var retriesFailedAfter: Double?
    /// The default destination directory.
    package var directory: String

    package init(scope: String, directory: String) {
        self.scope = scope
        self.directory = directory
    }
}

extension SettingsBody: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case scope, maxConcurrentDownloads, rateLimit, connectionsPerHost, allowsMetered, allowsConstrained
        case networkAssumption, retriesFailedAfter, directory
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(scope, forKey: .scope)
        try members.encode(maxConcurrentDownloads, forKey: .maxConcurrentDownloads)
        try members.encode(rateLimit, forKey: .rateLimit)
        try members.encode(connectionsPerHost, forKey: .connectionsPerHost)
        try members.encode(allowsMetered, forKey: .allowsMetered)
        try members.encode(allowsConstrained, forKey: .allowsConstrained)
        try members.encode(networkAssumption, forKey: .networkAssumption)
        try members.encode(retriesFailedAfter, forKey: .retriesFailedAfter)
        try members.encode(directory, forKey: .directory)
    }
}

/// The body of `PATCH /settings`; omitted members are unchanged. Null: no limit, or in a session the daemon's value.
package struct SettingsChange: Sendable, Hashable {
    package var maxConcurrentDownloads = Amendment<Int>.unchanged
    package var rateLimit = Amendment<ByteCount>.unchanged
    package var connectionsPerHost = Amendment<Int>.unchanged
    package var allowsMetered = Amendment<Bool>.unchanged
    package var allowsConstrained = Amendment<Bool>.unchanged
    package var networkAssumption = Amendment<String>.unchanged
    package var retriesFailedAfter = Amendment<Double>.unchanged
    /// Unix socket only.
    package var directory: String?

    package init() {}
}

extension SettingsChange: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case maxConcurrentDownloads, rateLimit, connectionsPerHost, allowsMetered, allowsConstrained, networkAssumption
        case retriesFailedAfter, directory
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        maxConcurrentDownloads = try members.decodeAmendment(Int.self, forKey: .maxConcurrentDownloads)
        rateLimit = try members.decodeAmendment(ByteCount.self, forKey: .rateLimit)
        connectionsPerHost = try members.decodeAmendment(Int.self, forKey: .connectionsPerHost)
        allowsMetered = try members.decodeAmendment(Bool.self, forKey: .allowsMetered)
        allowsConstrained = try members.decodeAmendment(Bool.self, forKey: .allowsConstrained)
        networkAssumption = try members.decodeAmendment(String.self, forKey: .networkAssumption)
        retriesFailedAfter = try members.decodeAmendment(Double.self, forKey: .retriesFailedAfter)
        directory = try members.decodeIfPresent(String.self, forKey: .directory)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(maxConcurrentDownloads, forKey: .maxConcurrentDownloads)
        try members.encode(rateLimit, forKey: .rateLimit)
        try members.encode(connectionsPerHost, forKey: .connectionsPerHost)
        try members.encode(allowsMetered, forKey: .allowsMetered)
        try members.encode(allowsConstrained, forKey: .allowsConstrained)
        try members.encode(networkAssumption, forKey: .networkAssumption)
        try members.encode(retriesFailedAfter, forKey: .retriesFailedAfter)
        try members.encodeIfPresent(directory, forKey: .directory)
    }
}
