package import FerryCore
package import SystemPackage

/// Reserves a file name that no other download uses.
///
/// A name is free if neither the file nor any of a download's files beside it exists. Creating `NAME.part`
/// exclusively reserves the name. Invariant: no two takers, in one process or several, hold the same part file.
package struct NameTaker: Sendable {
    package enum Result: Sendable {
        /// The part file and its paths. The obstacle is set if a foreign file forced a name other than the wanted one.
        case taken(PartFile, DownloadPaths, InTheWay?)
        /// The final name exists, and the rule is `fail` or `skip`.
        case exists(FilePath)
        /// Another download's part file, journal or backup, or a directory, blocks the name, and the rule allows no
        /// other name.
        case blocked(FilePath)
        /// All names up to number 9,999 are taken.
        case noFreeName(FilePath)
    }

    /// A file at a wanted name that fails the ownership check.
    package struct InTheWay: Sendable, Hashable {
        package let path: FilePath
        package let flaw: Ownership.Flaw
    }

    /// The last number that is tried.
    package static let maxNumber = 9_999

    private let fileSystem: any FileSystem
    /// The paths of a backup that belongs to the calling download and does not block the name.
    private let ownAside: DownloadPaths?
    private let maxNumber: Int

    /// `ownAside`: the paths of the download's own backup. `maxNumber`: the last number to try.
    package init(
        fileSystem: any FileSystem, ownAside: DownloadPaths? = nil, maxNumber: Int = NameTaker.maxNumber
    ) {
        self.fileSystem = fileSystem
        self.ownAside = ownAside
        self.maxNumber = maxNumber
    }

    /// Reserves `name`, or under ``ConflictRule/rename`` the first free name after it. With `mayReplace` the final
    /// name may exist, under any rule.
    ///
    /// The caller must write the journal next: a crash before that leaves an empty part file without a journal, which
    /// the next taker adopts.
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
        for number in 1...maxNumber {
            guard let paths = DownloadPaths(name, number: number, in: directory) else { break }
            guard let part = try tryTaking(paths, mayExist: false) else { continue }
            return .taken(part, paths, inTheWay(of: wanted))
        }
        return .noFreeName(wanted.final)
    }

    /// Returns whether neither the file nor any of a download's files exists under the name.
    package func isFree(_ paths: DownloadPaths) throws(FileError) -> Bool {
        if try fileSystem.exists(paths.final) { return false }
        if try fileSystem.exists(paths.part) { return false }
        return try obstacle(paths) == nil
    }

    /// Returns the first file that occupies the name and fails the ownership check; `nil` if there is none.
    package func inTheWay(of paths: DownloadPaths) -> InTheWay? {
        for path in [paths.final, paths.part, paths.journal, paths.newJournal, paths.oldPart, paths.oldJournal] {
            let purpose: Ownership.Purpose = path == paths.final ? .content : .download
            guard let flaw = try? fileSystem.flaw(at: path, for: purpose) else { continue }
            // A directory or link at the final name may well belong to the user.
            if path != paths.final || flaw != .notRegular { return InTheWay(path: path, flaw: flaw) }
        }
        return nil
    }

    /// Reserves this one name; returns `nil` if it is not free.
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
        // Checked again, because a download with that name may have been published since the first check.
        do throws(PartFileError) {
            if try isOpen(paths, mayExist: mayExist) { return part }
            // An adopted part file may have a journal by now, so it stays.
            if isNew { try disk { () throws(FileError) in try part.remove() } }
            part.close()
            return nil
        } catch {
            part.close()
            throw error
        }
    }

    /// Returns whether all files other than the part file allow the reservation.
    private func isOpen(_ paths: DownloadPaths, mayExist: Bool) throws(PartFileError) -> Bool {
        try disk { () throws(FileError) in
            if let final = try fileSystem.statusIfPresent(paths.final) {
                guard mayExist, try Replaceable.allows(paths.final, final, fileSystem: fileSystem) else { return false }
            }
            return try obstacle(paths) == nil
        }
    }

    /// Returns a blocking file other than the final name and the part file.
    private func obstacle(_ paths: DownloadPaths) throws(FileError) -> FilePath? {
        let aside = paths == ownAside ? [] : [paths.oldPart, paths.oldJournal]
        for path in [paths.journal] + aside where try fileSystem.exists(path) { return path }
        // A new journal of our own was left by a crash, and will be replaced.
        if try fileSystem.flaw(at: paths.newJournal) != nil { return paths.newJournal }
        // Another download's final name may equal this download's part file or journal.
        for path in [paths.part, paths.journal] {
            guard let last = path.lastComponent,
                let other = DownloadPaths(directory: paths.directory, name: last.string)
            else { continue }
            if try fileSystem.exists(other.part) { return other.part }
        }
        return nil
    }

    /// Opens a part file that a crash left before its journal was written: owned by us, with the mode of a new part file,
    /// empty, and not locked.
    private func takeAbandoned(_ paths: DownloadPaths) throws(PartFileError) -> PartFile? {
        let status = try disk { () throws(FileError) in try fileSystem.statusIfPresent(paths.part) }
        guard let status, Self.isAbandoned(status) else { return nil }
        let part: PartFile
        do throws(PartFileError) {
            part = try PartFile.open(paths.part, fileSystem: fileSystem)
        } catch {
            // A part file that cannot be opened and locked is not an abandoned one.
            return nil
        }
        // Without locks its use by another process cannot be detected.
        let now = part.isLocked ? try? part.file.status() : nil
        guard let now, Self.isAbandoned(now) else {
            part.close()
            return nil
        }
        return part
    }

    /// Returns whether the status matches a part file that a crash left before its first journal was written.
    static func isAbandoned(_ status: FileStatus) -> Bool {
        status.kind == .regular && status.length == 0 && status.mode == PartFile.mode && status.linkCount == 1
    }

    private func disk<Value>(_ body: () throws(FileError) -> Value) throws(PartFileError) -> Value {
        do throws(FileError) { return try body() } catch { throw .file(error) }
    }
}
