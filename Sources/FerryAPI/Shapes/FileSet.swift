package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// `POST /sets`: a set of files, from one of `url` and `list`. Decoding refuses unknown members.
package struct NewSet: ClientBody, Encodable, Hashable {
    /// The URL of a list or of an index page.
    package var url: String?
    /// The absolute path of a list on the daemon's machine; over the Unix socket only.
    package var list: String?
    /// The directory of the files; over TCP as of a download, else absolute.
    package var directory: String
    /// The patterns of which a path must match one; `nil` for all files.
    package var include: [String]?
    /// The patterns of which a path must not match any.
    package var exclude: [String]?
    /// The maximum depth of directories below an index page; `nil` for all.
    package var depth: Int?
    /// The URL that relative names in a list are below; `nil` for that of the list.
    package var base: String?
    /// Whether names are made safe for every file system; `nil` for no over the Unix socket, and always over TCP.
    package var safeNames: Bool?
    /// Whether a file is unchanged if the list has the date and size that it had before; `nil` for no.
    package var trustsListing: Bool?
    /// Whether files that the source does not list any more are deleted, if they are unchanged; `nil` for no.
    package var deletesGone: Bool?
    /// The most files that are deleted, as `N` or `P%`; `nil` for half of a set of more than ten files.
    package var maxDelete: String?
    /// Whether files are replaced that are not of the set; `nil` for no.
    package var replacesOthers: Bool?

    package init(url: String? = nil, list: String? = nil, directory: String) {
        (self.url, self.list, self.directory) = (url, list, directory)
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, list, directory, include, exclude, depth, base, safeNames, trustsListing, deletesGone, maxDelete
        case replacesOthers
    }
}

/// A set of files that the daemon keeps the same as its source: in responses, in `set` events, and in its store.
package struct FileSet: Codable, Sendable, Hashable {
    package enum State: String, Codable, Sendable, Hashable, CaseIterable {
        /// Waits until fewer sets are being synced.
        case waiting
        case syncing
        case paused
        /// Every listed file is here, proven as far as the source allows.
        case complete
        /// Files or parts of the list are missing: ``FileSet/incomplete``, ``FileSet/problems``.
        case incomplete
        /// There was no list, or the directory cannot be used: ``FileSet/error``.
        case failed
        case cancelled

        /// Whether the daemon works on the set, also after its next start.
        package var isActive: Bool { self == .waiting || self == .syncing }
    }

    /// A file that is missing or not current.
    package struct Incomplete: Codable, Sendable, Hashable {
        package var path: String
        /// `nil` if no more is known.
        package var error: DownloadError?

        package init(path: String, error: DownloadError?) { (self.path, self.error) = (path, error) }
    }

    package var id: String
    package var state: State
    /// What was asked for, its directory absolute.
    package var set: NewSet
    /// The directory that no file may leave; `nil` if a client of the Unix socket has chosen the place.
    package var root: String?
    package var addedAt: Date
    /// When it was last complete, incomplete, failed or cancelled.
    package var endedAt: Date?
    /// The number of files that the source lists; 0 until it is read.
    package var files = 0
    /// The number of files that are complete and current.
    package var done = 0
    /// The number of files that have ended otherwise in this run.
    package var failed = 0
    /// The bytes that were received in this run.
    package var receivedBytes: ByteCount = 0
    /// The speed of its downloads together; `nil` unless it is being synced.
    package var bytesPerSecond: Double?
    /// The first files that are missing or not current; `nil` for none.
    package var incomplete: [Incomplete]?
    /// The first things of the source that cannot be used; `nil` for none.
    package var problems: [String]?
    /// The number of files that are here and that the source does not list any more.
    package var gone = 0
    /// Why the set failed.
    package var error: DownloadError?
    /// The number of the last change of a set that this is as new as, within one boot of the daemon: of two answers or
    /// events about a set, the one with the larger number is newer. Not stored.
    package var asOf: UInt64?

    /// The maximum number of entries of ``incomplete`` and of ``problems``.
    package static let mostTold = 100

    package init(id: String, state: State, _ set: NewSet, root: String?, addedAt: Date) {
        (self.id, self.state, self.set, self.root, self.addedAt) = (id, state, set, root, addedAt)
    }
}

/// `GET /sets`: in the order of their addition.
package struct FileSetItems: Codable, Sendable, Hashable {
    package var items: [FileSet]
    /// The number of the last change that the sets are as new as; see ``FileSet/asOf``.
    package var asOf: UInt64

    package init(_ items: [FileSet], asOf position: UInt64 = 0) { (self.items, asOf) = (items, position) }
}
