package import FerryCore
package import struct Foundation.Date

/// A new download. Omitted members have the defaults of ``FerryCore/DownloadRequest``.
///
/// The destination is `path`, an absolute path; `part`, a part file or journal to resume; or `directory`, with `name`
/// for an exact file name; if all are omitted, the session's directory. Over TCP only paths below the permitted
/// directories.
package struct NewDownload: Sendable, Hashable {
    package var id: String?
    /// The source, then mirrors; user info in them is secret.
    package var urls: [String] = []
    package var directory: String?
    package var name: String?
    package var path: String?
    package var part: String?
    package var onConflict: ConflictRule?
    package var headers: HeaderList?
    package var user: String?
    package var password: String?
    /// The origin of credentials and secret headers, `https://host`, when there are no `urls`.
    package var secretsOrigin: String?
    /// `sha-256=HEX` or `sha-256:HEX`.
    package var checksum: String?
    /// The URL of a list of digests.
    package var checksumList: String?
    package var maxConnections: Int?
    package var rateLimit: ByteCount?
    package var maxBytes: ByteCount?
    package var priority: Int?
    package var startsPaused: Bool?
    package var notBefore: Date?
    package var allowsMetered: Bool?
    package var allowsConstrained: Bool?
    package var allowsPrivate: Bool?
    package var label: String?
    package var userInfo: [String: String]?
    package var onDuplicate: DuplicateRule?
    package var strict: Bool?
    package var allowsUnprovenParts: Bool?
    package var resumesUnproven: Bool?
    package var failsOnChange: Bool?
    package var allowsDowngrade: Bool?
    package var acceptsHTML: Bool?
    package var syncsToDisk: Bool?

    package init(urls: [String] = []) { self.urls = urls }
}

extension NewDownload: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, urls, directory, name, path, part, onConflict, headers, user, password, checksum, checksumList
        case maxConnections, rateLimit, maxBytes, priority, startsPaused, notBefore, allowsMetered, allowsConstrained
        case label, userInfo, onDuplicate, strict, allowsUnprovenParts, resumesUnproven, failsOnChange, allowsDowngrade
        case acceptsHTML, syncsToDisk, secretsOrigin, allowsPrivate
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, as type: Value.Type = Value.self) throws -> Value? {
            try members.decodeIfPresent(Value.self, forKey: key)
        }
        id = try read(.id)
        urls = try read(.urls) ?? []
        directory = try read(.directory)
        name = try read(.name)
        path = try read(.path)
        part = try read(.part)
        onConflict = try read(.onConflict)
        headers = try read(.headers)
        user = try read(.user)
        password = try read(.password)
        secretsOrigin = try read(.secretsOrigin)
        checksum = try read(.checksum)
        checksumList = try read(.checksumList)
        maxConnections = try read(.maxConnections)
        rateLimit = try read(.rateLimit)
        maxBytes = try read(.maxBytes)
        priority = try read(.priority)
        startsPaused = try read(.startsPaused)
        notBefore = try members.decodeDateIfPresent(forKey: .notBefore)
        allowsMetered = try read(.allowsMetered)
        allowsConstrained = try read(.allowsConstrained)
        allowsPrivate = try read(.allowsPrivate)
        label = try read(.label)
        userInfo = try read(.userInfo)
        onDuplicate = try read(.onDuplicate)
        strict = try read(.strict)
        allowsUnprovenParts = try read(.allowsUnprovenParts)
        resumesUnproven = try read(.resumesUnproven)
        failsOnChange = try read(.failsOnChange)
        allowsDowngrade = try read(.allowsDowngrade)
        acceptsHTML = try read(.acceptsHTML)
        syncsToDisk = try read(.syncsToDisk)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        func write(_ value: (some Encodable)?, _ key: CodingKeys) throws {
            try members.encodeIfPresent(value, forKey: key)
        }
        try write(id, .id)
        if !urls.isEmpty { try members.encode(urls, forKey: .urls) }
        try write(directory, .directory)
        try write(name, .name)
        try write(path, .path)
        try write(part, .part)
        try write(onConflict, .onConflict)
        try write(headers, .headers)
        try write(user, .user)
        try write(password, .password)
        try write(secretsOrigin, .secretsOrigin)
        try write(checksum, .checksum)
        try write(checksumList, .checksumList)
        try write(maxConnections, .maxConnections)
        try write(rateLimit, .rateLimit)
        try write(maxBytes, .maxBytes)
        try write(priority, .priority)
        try write(startsPaused, .startsPaused)
        try write(notBefore.map(RFC3339.text), .notBefore)
        try write(allowsMetered, .allowsMetered)
        try write(allowsConstrained, .allowsConstrained)
        try write(allowsPrivate, .allowsPrivate)
        try write(label, .label)
        try write(userInfo, .userInfo)
        try write(onDuplicate, .onDuplicate)
        try write(strict, .strict)
        try write(allowsUnprovenParts, .allowsUnprovenParts)
        try write(resumesUnproven, .resumesUnproven)
        try write(failsOnChange, .failsOnChange)
        try write(allowsDowngrade, .allowsDowngrade)
        try write(acceptsHTML, .acceptsHTML)
        try write(syncsToDisk, .syncsToDisk)
    }
}
