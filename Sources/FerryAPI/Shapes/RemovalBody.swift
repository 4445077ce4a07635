package import FerryCore

/// The body of `POST /downloads/remove`: downloads to remove from the list. Those that have not ended are cancelled
/// first.
package struct RemovalBody: ClientBody, Encodable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable { case ids, deleteFiles }

    /// At most ``FerryAPI/mostAtOnce``.
    package var ids: [String]
    package var deleteFiles: Bool?
    package init(_ ids: [String], deleteFiles: Bool? = nil) {
        self.ids = ids
        self.deleteFiles = deleteFiles
    }
}

/// The result for one download.
package struct Removal: Codable, Sendable, Hashable {
    package var id: String
    package var removed: Bool
    /// Why the download was not removed; `nil` when it was.
    package var error: DownloadError?

    package init(_ id: String, error: DownloadError? = nil) {
        self.id = id
        removed = error == nil
        self.error = error
    }
}

/// The results, one per download, in the requested order.
package struct RemovalItems: Codable, Sendable, Hashable {
    package var items: [Removal]
    package init(_ items: [Removal]) { self.items = items }
}
