package import FerryCore
package import SystemPackage

/// A file that has its final name.
package struct Published: Sendable, Hashable {
    package var path: FilePath
    package var name: String
    /// What went otherwise than usual.
    package var notes: [PublishNote]
}

extension NameTaker.InTheWay {
    /// What is there, whose it is, what was done instead, and what the user can do.
    package func reason(forName name: String) -> Reason { Reason(.notOursHere, path.string, flaw.phrase, name) }
}

extension NameTaker {
    /// What is to be said when a file got another name than the one that was ordered.
    func note(numbered name: String, instead order: PublishOrder) -> PublishNote {
        guard let wanted = DownloadPaths(directory: order.directory, name: order.name), let other = inTheWay(of: wanted)
        else { return .numbered(name) }
        return .inTheWay(other, name)
    }
}

/// What went otherwise than usual when a file was published; worth an event, no error.
package enum PublishNote: Sendable, Hashable {
    /// The wanted name was taken; this one was free.
    case numbered(String)
    /// The wanted name was taken by what is not ours; this one was free.
    case inTheWay(NameTaker.InTheWay, String)
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

    package var text: String { reason.description }

    /// The same, known in every language.
    package var reason: Reason {
        switch self {
        case .numbered(let name): Reason(.nameTaken, name)
        case .inTheWay(let other, let name): other.reason(forName: name)
        case .replaced: Reason(.replacedOlder)
        case .linked: Reason(.publishedByLink)
        case .renamedAfterCheck: Reason(.publishedByRename)
        case .partNameLeft(let path): Reason(.oldNameLeft, path.string)
        case .attributeNotSet(let error), .modeNotSet(let error), .timeNotSet(let error): .phrase(error.phrase)
        case .directoryNotSyncable: Reason(.directoryUnsynced)
        }
    }
}
