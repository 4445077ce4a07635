package import FerryCore

/// The body of `POST /downloads/remove`: downloads to remove from the list. Those that have not ended are cancelled
/// first.
package struct RemovalBody: Codable, Sendable, Hashable {
    /// At most ``FerryAPI/mostAtOnce``.
    package var ids: [String]
    package var deleteFiles: Bool
    package init(_ ids: [String], deleteFiles: Bool = false) {
        self.ids = ids
        self.deleteFiles = deleteFiles
    }
    enum CodingKeys: String, CodingKey, CaseIterable { case ids, deleteFiles }
    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        ids = try members.decode([String].self, forKey: .ids)
        deleteFiles = try members.decodeIfPresent(Bool.self, forKey: .deleteFiles) ?? false
    }
}

/// The result for one download.
package struct Removal: Sendable, Hashable {
    package var id: String
    package var removed: Bool
    /// Why the download was not removed; `nil` when it was.
    package var error: ErrorBody?

    package init(_ id: String, error: DownloadError? = nil) {
        self.id = id
        removed = error == nil
        self.error = error.map { ErrorBody($0) }
    }
}

extension Removal: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable { case id, removed, error }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(removed, forKey: .removed)
        try members.encode(error, forKey: .error)
    }
}

/// The results, one per download, in the requested order.
package struct RemovalItems: Codable, Sendable, Hashable {
    package var items: [Removal]
    package init(_ items: [Removal]) { self.items = items }
}
