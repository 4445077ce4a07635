import FerryCore
import SystemPackage

/// Finds the file that a download resumes: the part file of an earlier run, or the partial file of another program.
///
/// ```
/// part file of the last run of this download ─► named
/// destination: a stream                      ─► stream
///              a part file                   ─► named, or without a journal: half (of another program)
///              a file or a directory         ─► begun (a journal has the URL), else nothing
/// ```
/// It opens no file for writing. Its only change is to create the directory.
struct JournalSearch {
    enum Found: Hashable {
        /// The list or the user named the part file, so the run resumes it or fails.
        case named(DownloadPaths)
        /// A journal of an earlier download of the URL; if it cannot be used, another name is chosen.
        case begun(DownloadPaths)
        case half(FilePath)
        /// There is no usable journal; a finished file may exist at this path.
        case nothing(final: FilePath)
        case stream
    }

    private let own: OwnFiles
    private let environment: EngineEnvironment
    /// The expected name of the file.
    private let name: String
    private let note: (Reason) -> Void
    private var request: DownloadRequest { own.request }

    init(_ own: OwnFiles, _ environment: EngineEnvironment, name: String, note: @escaping (Reason) -> Void) {
        self.own = own
        self.environment = environment
        self.name = name
        self.note = note
    }

    func run(_ disk: Disk) throws(DownloadError) -> Found {
        _ = try request.destination.resolved()
        if let paths = pathsOfLastRun(disk) { return .named(paths) }
        if let directory = try directory() { try ready(directory, disk) }
        return try find(disk)
    }

    /// Returns what ``run(_:)`` would return for a download without an earlier run. Changes nothing.
    func find(_ disk: Disk) throws(DownloadError) -> Found {
        switch request.destination {
        case .stream: return .stream
        case .part(let path):
            let path = FilePath(ofRequest: path)
            guard let paths = DownloadPaths(of: path) else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPartFile, "\(path)"))
            }
            return try isForeign(path, paths, disk) ? .half(path) : .named(paths)
        case .file(let path):
            let paths = try paths(ofFile: path)
            return try begun(paths, disk).map { .begun($0) } ?? .nothing(final: paths.final)
        case .directory(let path, _):
            let directory = FilePath(ofRequest: path)
            if let journal = try journal(for: request.sources[0].text, in: directory, disk),
                let paths = DownloadPaths(of: journal)
            {
                return .begun(paths)
            }
            if let own = DownloadPaths(directory: directory, name: name)?.journal,
                let problem = try problem(with: own, in: directory, disk), problem.flaw == nil
            {
                note(Reason(.otherNameBegun, problem.phrase))
            }
            return .nothing(final: directory.appending(name))
        }
    }

    /// The directory of the new file; `nil` for a stream and for a part file.
    private func directory() throws(DownloadError) -> FilePath? {
        switch request.destination {
        case .stream, .part: nil
        case .file(let path): try paths(ofFile: path).directory
        case .directory(let path, _): FilePath(ofRequest: path)
        }
    }

    private func paths(ofFile path: String) throws(DownloadError) -> DownloadPaths {
        let target = FilePath(ofRequest: path)
        guard let name = target.lastComponent?.string,
            let paths = DownloadPaths(directory: target.removingLastComponent(), name: name)
        else { throw DownloadError(.invalidRequest, ErrorPhrase(.notAFileName, "\(path)")) }
        return paths
    }

    /// Returns the paths of the part file that this download's earlier run left, if it still exists.
    private func pathsOfLastRun(_ disk: Disk) -> DownloadPaths? {
        guard let path = own.context.partPath, let paths = DownloadPaths(of: FilePath(ofRequest: path)) else {
            return nil
        }
        do throws(JournalError) {
            let record = try Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
            if record.id == own.id.rawValue { return paths }
            note(Reason(.belongsToAnother, "\(paths.part)"))
        } catch .missing {
            // A file that was kept in memory has no journal.
        } catch {
            note(.phrase(error.phrase))
        }
        return nil
    }

    /// Returns the paths of an earlier download of the same URL to this file. If there is none, returns `paths` if they have a
    /// journal.
    private func begun(_ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) -> DownloadPaths? {
        if let numbered = numbered(paths, disk) { return numbered }
        return try paths.hasJournal(disk.fileSystem) ? paths : nil
    }

    /// Returns the paths of an earlier download of the same URL under this name or, if that was in use, under a numbered one.
    private func numbered(_ paths: DownloadPaths, _ disk: Disk) -> DownloadPaths? {
        let most = request.onConflict == .rename ? NameTaker.maxNumber : 0
        for number in 0...most {
            guard let source = request.sources.first,
                let next = DownloadPaths(paths.name, number: number, in: paths.directory)
            else { break }
            let record = try? Journal.read(at: next.journal, fileSystem: disk.fileSystem)
            if let record, !own.isAnothers(record.id), record.names(source) { return next }
            if !next.isInUse(disk.fileSystem) { break }
        }
        return nil
    }

    /// Returns whether a file exists at a requested path without a journal.
    private func isForeign(_ path: FilePath, _ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) -> Bool {
        if try paths.hasJournal(disk.fileSystem) { return false }
        do throws(FileError) { return try disk.fileSystem.exists(path) } catch { throw DownloadError(error) }
    }

    /// Creates the directory if needed and throws if it is not writable, before any byte is fetched.
    private func ready(_ directory: FilePath, _ disk: Disk) throws(DownloadError) {
        do throws(FileError) {
            if let status = try disk.fileSystem.statusIfPresent(directory) {
                if status.kind == .symbolicLink, let root = request.root, FilePath(ofRequest: root) != directory {
                    throw FileError(.open, directory, kind: .confined)
                }
            } else {
                try disk.fileSystem.makeDirectories(directory, syncs: request.syncsToDisk)
            }
        } catch { throw DownloadError(error) }
        guard disk.fileSystem.isWritable(directory) else {
            throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(directory)"))
        }
    }

    /// Returns the journal of an earlier download of the URL. Skips a download for which another name was requested, because a
    /// program expects the file under the requested name. Skips a numbered name if the request has a conflict rule other than
    /// `rename` and the original name is in use. If all are skipped, reports the first.
    private func journal(
        for url: String, in directory: FilePath, _ disk: Disk
    ) throws(DownloadError) -> FilePath? {
        do {
            let index = try environment.journals(in: directory, disk)
            index.lookAgain(with: disk.fileSystem)
            update(index, for: url, in: directory, disk)
            let paths = index.paths(forURL: url)
            if paths.isEmpty { return nil }
            let records = index.records
            let ours = paths.filter { path in records[path].map { !own.isAnothers($0.id) } ?? true }
            let found = ours.first { path in
                let original = DownloadPaths(of: path)?.unnumbered
                if request.onConflict != .rename, let original, original.isInUse(disk.fileSystem) { return false }
                let requested = records[path]?.requestedName
                return [requested, original?.name].contains { $0?.hasSameBytes(as: name) == true } || requested == nil
            }
            if let found { return found }
            if let part = ours.first.flatMap(DownloadPaths.init(of:))?.part {
                note(Reason(.partOfOtherName, "\(part)", ShellWord.quote(part.string)))
            }
            return nil
        } catch { throw DownloadError(error) }
    }

    /// Updates the entries of the URL: another process may have changed its journals, or created one under the expected name.
    ///
    /// A journal that another process creates under another name is not found, because that would require reading the directory
    /// for each download.
    private func update(_ index: JournalIndex, for url: String, in directory: FilePath, _ disk: Disk) {
        var journals = index.paths(forURL: url)
        if journals.isEmpty, let expected = DownloadPaths(directory: directory, name: name) {
            journals = [numbered(expected, disk)?.journal].compactMap(\.self)
        }
        for path in journals {
            if let record = try? Journal.read(at: path, fileSystem: disk.fileSystem) { index.add(path, record) }
        }
    }

    /// Returns why the journal at this download's default path cannot be used.
    private func problem(
        with path: FilePath, in directory: FilePath, _ disk: Disk
    ) throws(DownloadError) -> JournalError? {
        do { return try environment.journals(in: directory, disk).problems.first { $0.path == path }?.error } catch {
            throw DownloadError(error)
        }
    }
}
