package import FerryCore
package import SystemPackage

/// Gives each download a name that nobody else has (DESIGN §3.3).
///
/// A name is free when neither it nor anything that a download of that name keeps beside it is there. It is taken by
/// making `NAME.part`, which only one can. Invariant: of any number of takers, in one process or in several, no two
/// hold the same part file.
package struct NameTaker: Sendable {
    package enum Result: Sendable {
        /// Where another name than the wanted one was taken because of what is not ours: ``InTheWay``.
        case taken(PartFile, DownloadPaths, InTheWay?)
        /// The final name is there, and the rule is to fail or to skip.
        case exists(FilePath)
        /// Something that must not be touched is in the way: another download's part file, journal or old pair, or a
        /// directory; and the rule allows no other name.
        case blocked(FilePath)
        /// All of the names up to 9,999 are taken.
        case noFreeName(FilePath)
    }

    /// What has a name that we wanted, and is not ours.
    package struct InTheWay: Sendable, Hashable {
        package let path: FilePath
        package let flaw: Ownership.Flaw
    }

    /// The last number that is tried.
    package static let maxNumber = 9_999

    private let fileSystem: any FileSystem
    private let numbered: @Sendable (String, Int) -> String
    /// What lies beside under this name was put aside by the download that asks: it is not in its way.
    private let ownAside: DownloadPaths?

    /// Takes the way to number names, `("a.txt", 1)` to `a (1).txt`, and where an old pair of its own lies.
    package init(
        fileSystem: any FileSystem, ownAside: DownloadPaths? = nil,
        numbered: @escaping @Sendable (String, Int) -> String
    ) {
        self.fileSystem = fileSystem
        self.ownAside = ownAside
        self.numbered = numbered
    }

    /// Takes `name`, or under ``ConflictRule/rename`` the first free one after it. With `mayReplace` a file may have
    /// `name`, whatever the rule.
    ///
    /// Next the journal is to be written, before anything else: an empty part file of ours that has no journal is what
    /// a crash between the two leaves, and the next taker takes it over.
    package func take(
        _ name: String, in directory: FilePath, rule: ConflictRule, mayReplace: Bool = false
    ) throws(PartFileError) -> Result {
        guard let wanted = DownloadPaths(directory: directory, name: name) else {
            return .blocked(directory.appending(name))
        }
        if let part = try tryTaking(wanted, mayExist: mayReplace || rule == .overwrite) {
            return .taken(part, wanted, nil)
        }
        if rule != .rename {
            let status = try disk { () throws(FileError) in try fileSystem.statusIfPresent(wanted.final) }
            if let status {
                if rule != .overwrite, status.kind != .directory { return .exists(wanted.final) }
                let allows = try disk { () throws(FileError) in
                    try Replaceable.allows(wanted.final, status, fileSystem: fileSystem)
                }
                if !allows { return .blocked(wanted.final) }
            }
            return .blocked(try disk { () throws(FileError) in try obstacle(wanted) } ?? wanted.part)
        }
        for number in 1...Self.maxNumber {
            guard let paths = DownloadPaths(directory: directory, name: numbered(name, number)) else { break }
            guard let part = try tryTaking(paths, mayExist: false) else { continue }
            return .taken(part, paths, inTheWay(of: wanted))
        }
        return .noFreeName(wanted.final)
    }

    /// Whether neither the name nor anything that goes with it is there.
    package func isFree(_ paths: DownloadPaths) throws(FileError) -> Bool {
        if try fileSystem.exists(paths.final) { return false }
        if try fileSystem.exists(paths.part) { return false }
        return try obstacle(paths) == nil
    }

    /// What is not ours of all that keeps this name from being free; `nil` when all of it is.
    package func inTheWay(of paths: DownloadPaths) -> InTheWay? {
        for path in [paths.final, paths.part, paths.journal, paths.newJournal, paths.oldPart, paths.oldJournal] {
            let purpose: Ownership.Purpose = path == paths.final ? .content : .download
            guard let flaw = try? fileSystem.flaw(at: path, for: purpose) else { continue }
            // A directory or link of that name may well be the user's own.
            if path != paths.final || flaw != .notRegular { return InTheWay(path: path, flaw: flaw) }
        }
        return nil
    }

    /// Takes this one name; `nil` when it is not free.
    private func tryTaking(_ paths: DownloadPaths, mayExist: Bool) throws(PartFileError) -> PartFile? {
        guard try isOpen(paths, mayExist: mayExist) else { return nil }
        let part: PartFile
        var isNew = true
        do throws(PartFileError) {
            part = try PartFile.create(at: paths.part, fileSystem: fileSystem)
        } catch {
            guard case .exists = error else { throw error }
            guard let abandoned = try takeAbandoned(paths) else { return nil }
            part = abandoned
            isNew = false
        }
        // Looked at again: between the look and the taking, a download of that name may have come to its end.
        do throws(PartFileError) {
            if try isOpen(paths, mayExist: mayExist) { return part }
            // One that was there before may have a journal by now: it stays.
            if isNew { try disk { () throws(FileError) in try part.remove() } }
            part.close()
            return nil
        } catch {
            part.close()
            throw error
        }
    }

    /// Whether the names other than the part file's allow taking this one.
    private func isOpen(_ paths: DownloadPaths, mayExist: Bool) throws(PartFileError) -> Bool {
        try disk { () throws(FileError) in
            if let final = try fileSystem.statusIfPresent(paths.final) {
                guard mayExist, try Replaceable.allows(paths.final, final, fileSystem: fileSystem) else { return false }
            }
            return try obstacle(paths) == nil
        }
    }

    /// What else, beside the final name and the part file, is in the way.
    private func obstacle(_ paths: DownloadPaths) throws(FileError) -> FilePath? {
        let aside = paths == ownAside ? [] : [paths.oldPart, paths.oldJournal]
        for path in [paths.journal] + aside where try fileSystem.exists(path) { return path }
        // One that is ours was left by a crash, and is replaced.
        if try fileSystem.flaw(at: paths.newJournal) != nil { return paths.newJournal }
        // A download whose final name is to be what we would call our part file or journal.
        for path in [paths.part, paths.journal] {
            guard let last = path.lastComponent,
                let other = DownloadPaths(directory: paths.directory, name: last.string)
            else { continue }
            if try fileSystem.exists(other.part) { return other.part }
        }
        return nil
    }

    /// A part file that a crash left before its journal was written: ours, of our mode, empty, locked by nobody.
    private func takeAbandoned(_ paths: DownloadPaths) throws(PartFileError) -> PartFile? {
        let status = try disk { () throws(FileError) in try fileSystem.statusIfPresent(paths.part) }
        guard let status, Self.isAbandoned(status) else { return nil }
        let part: PartFile
        do throws(PartFileError) {
            part = try PartFile.open(paths.part, fileSystem: fileSystem)
        } catch {
            // Whatever it is, it is not abandoned by us.
            return nil
        }
        // Without locks nobody can tell whether it is in use.
        let now = part.isLocked ? try? part.file.status() : nil
        guard let now, Self.isAbandoned(now) else {
            part.close()
            return nil
        }
        return part
    }

    /// Whether this is what a crash between the part file and its first journal leaves, or looks so.
    static func isAbandoned(_ status: FileStatus) -> Bool {
        status.kind == .regular && status.length == 0 && status.mode == PartFile.mode && status.linkCount == 1
    }

    private func disk<Value>(_ body: () throws(FileError) -> Value) throws(PartFileError) -> Value {
        do throws(FileError) { return try body() } catch { throw .file(error) }
    }
}
