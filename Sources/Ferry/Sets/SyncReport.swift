public import FerryCore

/// The outcome of a sync.
public struct SyncReport: Sendable, Hashable, Codable {
    /// The number of files that the source lists.
    public var listedCount = 0
    /// The number of files that were complete and current.
    public var unchangedCount = 0
    /// The number of files that were fetched or, if the source is a directory, stored.
    public var fetchedCount = 0
    /// The bytes that were received.
    public var receivedBytes: ByteCount = 0
    /// The bytes of the files that were stored from a directory.
    public var storedBytes: ByteCount = 0
    /// The files that are missing or not current, in the order of their paths.
    public var incomplete: [IncompleteFile] = []
    /// The paths of files that the source no longer lists and the destination still has.
    public var gone: [String] = []
    /// The paths of files that were deleted from the destination.
    public var deleted: [String] = []
    /// Descriptions of the parts of the source that cannot be used, one line each.
    public var problems: [String] = []
    /// The files whose names in the destination differ from those in the source, because names with control characters or with a
    /// meaning to Ferry are changed.
    public var renamed: [RenamedFile] = []
    /// The entries of a directory that were left out because they are neither files nor directories.
    public var skipped: [SkippedFile] = []
    /// The patterns of the filter that match no file of the source.
    public var unusedPatterns: [String] = []

    /// Whether the destination has every file of the source, proven as far as the source allows.
    public var isComplete: Bool { incomplete.isEmpty && problems.isEmpty }
}

/// A file of a set whose name in the destination differs from the one in the source.
public struct RenamedFile: Sendable, Hashable, Codable {
    /// The path in the destination.
    public var path: String
    /// The path in the source.
    public var listedPath: String
}

/// An entry of a directory that is left out because it is neither a file nor a directory.
public struct SkippedFile: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A symbolic link, which is never followed.
        case symbolicLink
        /// A socket, a device or a named pipe.
        case special
    }

    /// The path below the directory.
    public var path: String
    public var kind: Kind
}
