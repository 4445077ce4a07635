/// A change of a listed download's request, encoded as the changed members of ``DownloadRequest``; null restores a default.
///
/// `user` and `password` provide credentials: a download that was waiting for them resumes.
package struct RequestChange: Sendable, Hashable {
    /// A request with the new values.
    package private(set) var request = DownloadRequest.plain
    /// The changed members.
    package private(set) var members: Set<DownloadRequest.CodingKeys> = []

    package init() {}

    /// Creates the change between two requests, without credentials and without properties that cannot be changed.
    package init(from old: DownloadRequest, to new: DownloadRequest) {
        for property in DownloadRequest.properties where property.changes != .never && property.differs(old, new) {
            property.copy(new, &request)
            members.insert(property.key)
        }
        request.ignoresEarlierChecksum = false
    }

    /// Throws `invalidRequest` if a property that cannot be changed differs in two requests, or if a new value is one that no
    /// request may have.
    package static func check(from old: DownloadRequest, to new: DownloadRequest) throws(DownloadError) {
        let fixed = DownloadRequest.properties.first { $0.changes == .never && $0.differs(old, new) }
        var name = fixed?.key.rawValue
        if old.destination != new.destination { name = "destination" }
        if old.credentials != new.credentials { name = "credentials" }
        if let name { throw DownloadError(.invalidRequest, ErrorPhrase(.notChangeable, name)) }
        try RequestChange(from: old, to: new).request.checkValues()
    }

    package mutating func set<Value>(
        _ member: DownloadRequest.CodingKeys, _ path: WritableKeyPath<DownloadRequest, Value>, _ value: Value
    ) {
        request[keyPath: path] = value
        members.insert(member)
    }

    package mutating func set(_ credentials: Credentials) {
        request.credentials = credentials
        members.formUnion([.user, .password])
    }

    /// Whether the change affects more than credentials.
    package var changesRequest: Bool { !members.isSubset(of: [.user, .password]) }

    /// Sets the changed properties of another request. If the change removes a checksum, the one in the journal is
    /// ignored too.
    package func apply(to other: inout DownloadRequest) {
        for property in DownloadRequest.properties where members.contains(property.key) {
            property.copy(request, &other)
        }
        if members.contains(.checksum) { other.ignoresEarlierChecksum = other.checksum == nil }
    }
}

extension RequestChange: Codable {
    package typealias CodingKeys = DownloadRequest.CodingKeys

    /// The names of the members that may change.
    package static var memberNames: Set<String> {
        let own = DownloadRequest.properties.filter { $0.changes != .never }.map(\.key) + [.user, .password]
        return Set(own.map(\.rawValue))
    }

    package init(from decoder: any Decoder) throws {
        request = try DownloadRequest(from: decoder)
        request.ignoresEarlierChecksum = false
        members = Set(try decoder.container(keyedBy: CodingKeys.self).allKeys)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        for property in DownloadRequest.properties where members.contains(property.key) {
            try property.encode(request, &container)
        }
        if members.contains(.user) { try container.encode(request.credentials?.user, forKey: .user) }
        if members.contains(.password) { try container.encode(request.credentials?.password, forKey: .password) }
    }
}
