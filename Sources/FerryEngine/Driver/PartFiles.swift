package import FerryCore
import SystemPackage

/// Part files in directories, examined without a running download.
package enum PartFiles {
    /// Returns the part files with a journal that passes the ownership check, sorted by path, and a message for each
    /// other journal.
    package static func list(
        in directory: String, fileSystem: any FileSystem
    ) throws(DownloadError) -> (own: [String], others: [ErrorPhrase]) {
        do throws(FileError) {
            let folder = FilePath(directory).lexicallyNormalized()
            var (own, others): ([String], [ErrorPhrase]) = ([], [])
            let names = try fileSystem.list(folder).sorted()
            for name in names where HalfFile.suffixes.contains(where: { name.utf8.hasSuffix($0) }) {
                let path = folder.appending(name).string
                // A crash before the first journal leaves an empty part file.
                guard try !fileSystem.exists(FilePath(path + ".ferry")),
                    let status = try fileSystem.statusIfPresent(FilePath(path)), status.length > 0
                else { continue }
                others.append(ErrorPhrase(.foreignHalf, path, ShellWord.quote(path)))
            }
            for name in names where name.utf8.hasSuffix(DownloadPaths.journalSuffix) {
                let journal = folder.appending(name)
                if let flaw = try fileSystem.flaw(at: journal) {
                    others.append(ErrorPhrase(.notOurs, journal.string, flaw.phrase))
                } else if let part = name.dropping(suffix: ".ferry") {
                    own.append(folder.appending(String(part)).string)
                }
            }
            return (own, others)
        } catch { throw DownloadError(error) }
    }

    /// Throws if a destination is not writable, before any byte is fetched.
    ///
    /// A missing directory is no error if its nearest existing ancestor is writable.
    package static func checkWritable(
        _ destination: DownloadRequest.Destination, fileSystem: any FileSystem
    ) throws(DownloadError) {
        let destination = try destination.resolved()
        var folder: FilePath
        switch destination {
        case .stream: return
        case .directory(let path, _): folder = FilePath(path).lexicallyNormalized()
        case .file(let path), .part(let path): folder = FilePath(path).lexicallyNormalized().removingLastComponent()
        }
        do throws(FileError) {
            if case .file(let path) = destination,
                try fileSystem.statusIfPresent(FilePath(path).lexicallyNormalized())?.kind == .directory
            {
                throw FileError(.create, FilePath(path), kind: .isDirectory)
            }
            while true {
                let status: FileStatus?
                do throws(FileError) { status = try fileSystem.status(folder, followingLinks: true) } catch {
                    if error.kind != .notFound { throw error }
                    status = nil
                }
                if let status {
                    guard status.kind == .directory else { throw FileError(.create, folder, kind: .notDirectory) }
                    break
                }
                guard folder.removeLastComponent() else { break }
            }
            guard fileSystem.isWritable(folder) else { throw FileError(.create, folder, kind: .permission) }
        } catch { throw DownloadError(error) }
    }
}

extension DownloadDriver {
    /// Deletes the files of a download that is not running, if its journal names the download.
    package static func discard(path: String, id: DownloadID, fileSystem: any FileSystem) {
        guard let paths = DownloadPaths(of: FilePath(path)),
            let opened = try? Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: false)
        else { return }
        var record = opened.record
        if record.id == id.rawValue, record.moving != nil,
            let there = try? PartialDownloadMover(fileSystem: fileSystem).resolve(paths, &record, opened.journal)
        {
            opened.journal.close()
            return discard(path: there.part.string, id: id, fileSystem: fileSystem)
        }
        guard opened.record.id == id.rawValue, let part = try? PartFile.open(paths.part, fileSystem: fileSystem) else {
            return opened.journal.close()
        }
        try? BackupPair(paths, fileSystem: fileSystem, syncs: false).remove(of: .init(opened.record))
        try? part.remove()
        try? opened.journal.remove()
    }
}
