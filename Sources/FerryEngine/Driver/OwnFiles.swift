import FerryCore
import SystemPackage

/// A download as the owner of files: decides which journals, backups and finished files on the disk belong to it.
///
/// It is constant during the whole run: ``Preparation`` uses it before the first request, the driver after it.
struct OwnFiles: Sendable {
    let id: DownloadID
    let request: DownloadRequest
    let context: RunContext

    /// Returns whether the id belongs to another download in the list.
    func isAnothers(_ id: String) -> Bool { id != self.id.rawValue && context.belongsToAnother?(id) == true }

    /// Returns whether a journal's statements beyond its claims (a published file, a move in progress) are trusted: the download
    /// was requested by one of its URLs or is listed under its id. Otherwise a prepared directory could make Ferry treat the
    /// user's other files as its own.
    func isAskedFor(_ record: JournalRecord) -> Bool {
        record.id == id.rawValue || request.sources.contains { record.names($0) }
    }

    /// Returns whether the download in progress at `paths` belongs to another request, so that the next free name is used.
    func isOfAnotherRequest(_ paths: DownloadPaths, _ disk: Disk) -> Bool {
        guard let other = try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem) else { return false }
        if isAnothers(other.id) { return true }
        guard request.onConflict == .rename, let source = request.sources.first else { return false }
        return !other.names(source)
    }

    /// Returns the downloads that may own the backup which this download replaces.
    ///
    /// - Parameters:
    ///   - backup: The known backup.
    ///   - urls: The URLs of the download, without those that a server has named.
    ///   - records: The records of its journals.
    func owner(of backup: Prepared.Backup, _ urls: [DownloadURL], _ records: [JournalRecord?]) -> BackupPair.Owner {
        let records = records.compactMap(\.self)
        return BackupPair.Owner(
            ids: Set([id.rawValue, backup.id].compactMap(\.self) + records.map(\.id)),
            urls: urls.map(\.text) + records.flatMap(\.urls))
    }

    /// Returns the file that a repeated download replaces, if it is unchanged.
    func earlierFile(orEmpty half: PublishedFile?, _ disk: Disk) -> FilePath? {
        guard let file = context.replaces ?? half, file.isUnchanged(fileSystem: disk.fileSystem) else { return nil }
        return FilePath(file.path)
    }

    /// Returns the names under which a checksum list may contain the file, as far as they are known before a response.
    func names(from sources: [DownloadURL]) -> [String] {
        var names = sources.prefix(1).map { SafeName.make(nil, url: $0, finalURL: nil) }
        switch request.destination {
        case .file(let path), .part(let path):
            if let name = DownloadPaths(of: FilePath(ofRequest: path))?.name { names.append(name) }
        case .directory, .stream: break
        }
        return names
    }

    /// Returns the path of the file with the wanted name if a part file has a numbered one instead, and the file may be complete.
    func original(of part: DownloadPaths, _ record: JournalRecord, wanted: String, _ disk: Disk) -> FilePath? {
        let total = record.identity.totalBytes ?? record.totalBytes
        guard request.onConflict == .rename, !context.ignoresFinished, !part.name.hasSameBytes(as: wanted),
            let path = part.unnumbered?.final, let status = try? disk.fileSystem.statusIfPresent(path),
            status.kind == .regular, total == nil || status.length == total
        else { return nil }
        return path
    }

    /// Returns the numbered names of `path` whose files were downloaded from the same URL according to their attributes. An
    /// attribute is not a proof, so these files are compared like the file at `path`.
    func copies(of path: FilePath, from source: DownloadURL?, _ disk: Disk) -> [FilePath] {
        guard request.onConflict == .rename, !context.ignoresFinished, let source,
            let name = path.lastComponent?.string
        else { return [] }
        var found: [FilePath] = []
        for number in 1...NameTaker.maxNumber {
            guard let paths = DownloadPaths(name, number: number, in: path.removingLastComponent()),
                let hasPart = try? disk.fileSystem.exists(paths.part),
                let hasFile = try? disk.fileSystem.exists(paths.final), hasPart || hasFile
            else { break }
            guard hasFile, let file = try? disk.fileSystem.openOurs(paths.final, .readOnly, for: .content) else {
                continue
            }
            if SourceAttribute.read(file)?.isFrom(url: source.text) == true { found.append(paths.final) }
            file.close()
        }
        return found
    }
}

extension Disk {
    /// Whether the journal beside a finished file is damaged. The journal may have announced the file. Without
    /// syncing, a power failure can damage both, and then only a comparison of its bytes proves the file.
    func hasDamagedJournal(beside path: FilePath) -> Bool {
        guard let name = path.lastComponent?.string,
            let paths = DownloadPaths(directory: path.removingLastComponent(), name: name)
        else { return false }
        do throws(JournalError) {
            _ = try Journal.read(at: paths.journal, fileSystem: fileSystem)
            return false
        } catch .missing { return false } catch { return error.flaw == nil && !error.mayPass }
    }
}

extension FilePath {
    /// Creates the normalized path of a request; the manager has made it absolute.
    init(ofRequest path: String) { self = FilePath(path).lexicallyNormalized() }
}

extension DownloadRequest {
    /// Returns the directory and the name for the file; `nil` for a stream, and for a part file that the request names.
    ///
    /// - Parameters:
    ///   - suggested: The name that the server suggests.
    ///   - url: The source.
    ///   - finalURL: The final target of the redirects.
    func wantedPlace(
        suggested: String?, url: DownloadURL, finalURL: DownloadURL?
    ) -> (directory: FilePath, name: String)? {
        switch destination {
        case .file(let path):
            let target = FilePath(ofRequest: path)
            return (target.removingLastComponent(), target.lastComponent?.string ?? "download")
        case .directory(let path, _):
            return (FilePath(ofRequest: path), SafeName.make(suggested, url: url, finalURL: finalURL))
        case .stream, .part: return nil
        }
    }
}
