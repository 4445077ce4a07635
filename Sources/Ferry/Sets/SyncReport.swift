public import FerryCore

/// The outcome of a sync.
public struct SyncReport: Sendable, Hashable, Codable {
    /// The number of files that the source lists.
    public var listedCount = 0
    /// The number of files that were complete and current.
    public var unchangedCount = 0
    /// The number of files that were fetched, or of a directory: stored.
    public var fetchedCount = 0
    /// The bytes that were received.
    public var receivedBytes: ByteCount = 0
    /// The bytes of the files of a directory that were stored.
    public var storedBytes: ByteCount = 0
    /// The files that are missing or not current, in the order of their paths.
    public var incomplete: [IncompleteFile] = []
    /// The paths of files that the source does not list any more and that are still here.
    public var gone: [String] = []
    /// The paths of files that were deleted here.
    public var deleted: [String] = []
    /// What of the source cannot be used: one line each.
    public var problems: [String] = []
    /// The files that have other names here: a name with control characters, or that means something to Ferry, is changed.
    public var renamed: [RenamedFile] = []
    /// What of a directory is neither a file nor a directory, and was left out.
    public var skipped: [SkippedFile] = []
    /// The patterns of the filter that match no file of the source.
    public var unusedPatterns: [String] = []

    /// Whether the directory has every file of the source, proven as far as the source allows.
    public var isComplete: Bool { incomplete.isEmpty && problems.isEmpty }
}

/// A file of a set that has another name here.
public struct RenamedFile: Sendable, Hashable, Codable {
    /// The path here.
    public var path: String
    /// The path in the source.
    public var listedPath: String
}

/// What of a directory is neither a file nor a directory, and is left out.
public struct SkippedFile: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable {
        /// It is not followed, wherever it leads.
        case symbolicLink
        /// A socket, a device or a named pipe.
        case special
    }

    /// The path below the directory.
    public var path: String
    public var kind: Kind
}
