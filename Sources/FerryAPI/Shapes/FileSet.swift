package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The body of `POST /sets`: a set of files, from either `url` or `list`. Decoding refuses unknown members.
package struct NewSet: ClientBody, Encodable, Hashable {
    /// The URL of a list or of an index page.
    package var url: String?
    /// The absolute path of a list on the daemon's machine; over the Unix socket only.
    package var list: String?
    /// The directory of the files. Over TCP, it follows the same rules as the directory of a download; otherwise, it is an absolute
    /// path.
    package var directory: String
    /// The patterns of which a path must match at least one; `nil` for all files.
    package var include: [String]?
    /// The patterns that a path must not match.
    package var exclude: [String]?
    /// The maximum depth of directories below an index page; `nil` for all.
    package var depth: Int?
    /// The base URL of relative names in a list; `nil` for the URL of the list.
    package var base: String?
    /// Whether names are made safe for every file system. Over the Unix socket, `nil` means false; over TCP, names are always made
    /// safe.
    package var safeNames: Bool?
    /// Whether a file counts as unchanged if its date and size in the list have not changed; `nil` means false.
    package var trustsListing: Bool?
    /// Whether files that the source no longer lists are deleted, if they are unchanged; `nil` means false.
    package var deletesGone: Bool?
    /// The maximum number of files that are deleted, as `N` or `P%`; `nil` for half of a set of more than ten files, and all of a
    /// smaller set.
    package var maxDelete: String?
    /// Whether files that do not belong to the set are replaced; `nil` means false.
    package var replacesOthers: Bool?

    /// The permitted values of ``depth``.
    package static let depths = 0...64
    /// The maximum number of patterns in ``include`` and ``exclude`` together.
    package static let mostPatterns = 100

    package init(url: String? = nil, list: String? = nil, directory: String) {
        (self.url, self.list, self.directory) = (url, list, directory)
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, list, directory, include, exclude, depth, base, safeNames, trustsListing, deletesGone, maxDelete
        case replacesOthers
    }
}

/// A set of files that the daemon keeps identical to its source, as in responses, in `set` events, and in the daemon's store.
package struct FileSet: Codable, Sendable, Hashable {
    package enum State: String, Codable, Sendable, Hashable, CaseIterable {
        /// Waiting until fewer sets are being synced.
        case waiting
        case syncing
        case paused
        /// Every listed file is present, and verified as far as the source permits.
        case complete
        /// Files or parts of the list are missing; see ``FileSet/incomplete`` and ``FileSet/problems``.
        case incomplete
        /// The list is missing, or the directory cannot be used; see ``FileSet/error``.
        case failed
        case cancelled

        /// Whether the daemon is working on the set, and will continue after its next start.
        package var isActive: Bool { self == .waiting || self == .syncing }
    }

    package var id: String
    package var state: State
    /// The request, with an absolute directory.
    package var set: NewSet
    /// The directory outside which no file may be written; `nil` if a client of the Unix socket has chosen the place.
    package var root: String?
    package var addedAt: Date
    /// When the set last became complete, incomplete, failed or cancelled.
    package var endedAt: Date?
    /// The number of files that the source lists; 0 until the list has been read.
    package var files = 0
    /// The number of files that are complete and current.
    package var done = 0
    /// The number of files that were not completed in this run.
    package var failed = 0
    /// The bytes that were received in this run.
    package var receivedBytes: ByteCount = 0
    /// The total speed of the set's downloads; `nil` unless the set is being synced.
    package var bytesPerSecond: Double?
    /// The first files that are missing or not current; `nil` for none.
    package var incomplete: [IncompleteFile]?
    /// The first entries of the source that cannot be used; `nil` for none.
    package var problems: [String]?
    /// The number of existing files that the source no longer lists.
    package var gone = 0
    /// Why the set failed or, if ``until`` is set, why the last request for its list failed.
    package var error: DownloadError?
    /// When the list of the set is requested again; `nil` unless the set is being synced and the last request for its list has
    /// failed.
    package var until: Date?
    /// The number of the last change of any set that this value reflects, within one boot of the daemon: of two versions of a
    /// set, in responses or events, the one with the larger number is newer. Not stored.
    package var asOf: UInt64?

    /// The maximum number of entries of ``incomplete`` and of ``problems``.
    package static let mostTold = 100

    package init(id: String, state: State, _ set: NewSet, root: String?, addedAt: Date) {
        (self.id, self.state, self.set, self.root, self.addedAt) = (id, state, set, root, addedAt)
    }
}

/// The response to `GET /sets`: the sets in the order of their addition.
package struct FileSetItems: Codable, Sendable, Hashable {
    package var items: [FileSet]
    /// The number of the last change that the sets reflect; see ``FileSet/asOf``.
    package var asOf: UInt64

    package init(_ items: [FileSet], asOf position: UInt64 = 0) { (self.items, asOf) = (items, position) }
}
