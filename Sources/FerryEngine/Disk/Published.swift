package import FerryCore
package import SystemPackage

/// A file that has its final name.
package struct Published: Sendable, Hashable {
    package var path: FilePath
    package var name: String
    package var notes: [PublishNote]

    /// Makes the new name durable.
    func settled(on fileSystem: any FileSystem, syncs: Bool) throws(PublishError) -> Published {
        guard syncs else { return self }
        var settled = self
        do throws(FileError) {
            if try !fileSystem.syncDirectoryIfSupported(path.parent) { settled.notes.append(.directoryNotSyncable) }
        } catch { throw .unsyncedName(self, error) }
        return settled
    }
}

extension NameTaker.InTheWay {
    /// The reason for a name change: the foreign file, its flaw, and the name used instead.
    package func reason(forName name: String) -> Reason { Reason(.notOursHere, path.string, flaw.phrase, name) }
}

extension NameTaker {
    /// Returns the note for a file that got a name other than the wanted one.
    func note(numbered name: String, instead order: PublishOrder) -> PublishNote {
        guard let wanted = DownloadPaths(directory: order.directory, name: order.name), let other = inTheWay(of: wanted)
        else { return .numbered(name) }
        return .inTheWay(other, name)
    }
}

/// A deviation from the normal course of publishing; worth an event, not an error.
package enum PublishNote: Sendable, Hashable {
    /// The wanted name was taken; the payload is the name used instead.
    case numbered(String)
    /// A file that fails the ownership check had the wanted name; the second payload is the name used instead.
    case inTheWay(NameTaker.InTheWay, String)
    /// An older file of that name was replaced, as requested.
    case replaced
    /// An older file of that name was replaced, and a copy is kept at this path.
    case kept(FilePath)
    /// The file system cannot rename without replacing, so the file was linked and then unlinked from its old name.
    case linked
    /// The file system cannot link either, so the file was renamed after a check that the name was free.
    case renamedAfterCheck
    /// The part file's name could not be removed; the file has both names.
    case partNameLeft(FilePath)
    case attributeNotSet(FileError)
    case modeNotSet(FileError)
    case timeNotSet(FileError)
    /// The file system cannot sync directories.
    case directoryNotSyncable

    package var text: String { reason.description }

    /// The localizable text.
    package var reason: Reason {
        switch self {
        case .numbered(let name): Reason(.nameTaken, name)
        case .inTheWay(let other, let name): other.reason(forName: name)
        case .replaced: Reason(.replacedOlder)
        case .kept(let path): Reason(.keptOlder, path.string)
        case .linked: Reason(.publishedByLink)
        case .renamedAfterCheck: Reason(.publishedByRename)
        case .partNameLeft(let path): Reason(.oldNameLeft, path.string)
        case .attributeNotSet(let error), .modeNotSet(let error), .timeNotSet(let error): .phrase(error.phrase)
        case .directoryNotSyncable: Reason(.directoryUnsynced)
        }
    }
}
