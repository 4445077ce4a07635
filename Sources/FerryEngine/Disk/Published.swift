package import SystemPackage

/// A file that has its final name.
package struct Published: Sendable, Hashable {
    package var path: FilePath
    package var name: String
    /// What went otherwise than usual.
    package var notes: [PublishNote]
}

/// What went otherwise than usual when a file was published; worth an event, no error.
package enum PublishNote: Sendable, Hashable {
    /// The wanted name was taken; this one was free.
    case numbered(String)
    /// An older file of that name was replaced, as asked.
    case replaced
    /// The file system cannot rename without replacing: a second name was made and the first removed.
    case linked
    /// Nor can it link: renamed after a look that the name is free.
    case renamedAfterCheck
    /// The name of the part file could not be removed: the file has both.
    case partNameLeft(FilePath)
    case attributeNotSet(FileError)
    case modeNotSet(FileError)
    case timeNotSet(FileError)
    /// The file system does not let directories be synced.
    case directoryNotSyncable

    package var text: String {
        switch self {
        case .numbered(let name): "the name was taken: saved as \(name)"
        case .replaced: "replaced the file that had the name"
        case .linked: "published by link and unlink: the file system cannot rename without replacing"
        case .renamedAfterCheck: "published by a plain rename after a check: the file system has nothing safer"
        case .partNameLeft(let path): "\(path.string) could not be removed; it is the finished file under its old name"
        case .attributeNotSet(let error), .modeNotSet(let error), .timeNotSet(let error): error.message
        case .directoryNotSyncable: "the file system cannot sync a directory: the name may not survive a power cut"
        }
    }
}
