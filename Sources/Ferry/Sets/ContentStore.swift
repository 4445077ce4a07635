package import FerryCore
import FerryEngine
import SystemPackage

/// A directory whose files are named by their content, so that each content is stored once.
///
///     request ─► DIR/.incoming-DIGEST (of the URL) ─► published, digest known ─► DIR/NAME (of the content)
///
/// Invariants:
/// - A file is renamed to the name of its content in one step, without replacing another file, after all its bytes have been
///   published.
/// - An existing file with that name is compared before the new one is removed.
///
/// There is no index besides the names, so memory does not grow. If the process is killed, a part file or a file under its
/// temporary name remains; the next request for the URL resumes the part file, or finds the file complete.
package struct ContentStore: Sendable {
    /// The prefix of the names of files whose digest is not known yet.
    package static let prefix = ReservedName.incoming.text

    /// The absolute path of the directory.
    package let directory: String
    /// Whether renaming is durable before it is reported. Default true.
    package var syncs = true

    package init(directory: String) { self.directory = directory }

    /// Returns the request with a temporary destination, where the file stays until its digest is known.
    package func staged(_ request: DownloadRequest) -> DownloadRequest {
        guard let url = request.sources.first else { return request }
        var staged = request
        staged.destination = .file(Paths.join(directory, Self.prefix + SHA256Text.hex(url.text.utf8)))
        staged.recordsDigests = true
        return staged
    }

    /// A file under the name of its content.
    package struct Stored: Sendable, Hashable {
        package var file: FinishedDownload
        /// Whether the directory already had the content. Default false.
        package var isDuplicate: Bool

        package init(_ file: FinishedDownload, isDuplicate: Bool = false) {
            (self.file, self.isDuplicate) = (file, isDuplicate)
        }
    }

    /// Renames a completed file to the name of its content, or removes it if the directory already has the content.
    ///
    /// - Parameter name: Returns the path below the directory for a file with this SHA-256 (64 hexadecimal digits).
    /// - Throws: `conflict` if a file with the name has different bytes; both files are then kept. `disk` for any other error.
    package func store(
        _ file: FinishedDownload, _ name: @escaping @Sendable (_ digest: String) throws(DownloadError) -> String
    ) async throws(DownloadError) -> Stored {
        try await EngineProvider.files.run { [self] disk throws(DownloadError) in
            let (from, digest) = (FilePath(file.path), try sha256(of: file, disk))
            let to = FilePath(Paths.join(directory, try name(HexText.string(digest))))
            var stored = Stored(file)
            (stored.file.path, stored.file.checksum) = (to.string, Checksum(algorithm: .sha256, bytes: digest))
            do throws(FileError) {
                try disk.fileSystem.makeDirectories(to.parent, syncs: syncs)
                if try take(from, as: to, disk) {
                    try moveDigests(of: from, to: to, disk)
                } else {
                    guard has(to, digest, length: file.totalBytes, disk) else {
                        throw FileError(.rename, to, kind: .exists)
                    }
                    stored.isDuplicate = true
                    // allow(ours): the download has published it just now.
                    try disk.fileSystem.removeIfPresent(from)
                    DigestFile.remove(of: from, fileSystem: disk.fileSystem)
                }
                if syncs { try disk.fileSystem.syncDirectoryIfSupported(to.parent) }
            } catch  where error.operation == .rename && error.kind == .exists {
                throw DownloadError(.conflict, ErrorPhrase(.contentInTheWay, "\(to)"), recovery: .needsUser)
            } catch { throw DownloadError(error) }
            return stored
        }
    }

    /// Returns the existing file with this SHA-256; `nil` if there is none, or if the checksum is not a SHA-256.
    package func file(
        with checksum: Checksum?, _ name: @escaping @Sendable (_ digest: String) throws(DownloadError) -> String
    ) async -> FinishedDownload? {
        guard let checksum, checksum.algorithm == .sha256,
            let path = try? Paths.join(directory, name(HexText.string(checksum.bytes)))
        else { return nil }
        return await EngineProvider.files.run { disk in
            guard let length = (try? disk.fileSystem.statusIfPresent(FilePath(path)))?.length,
                has(FilePath(path), checksum.bytes, length: length, disk)
            else { return nil }
            return FinishedDownload(
                path: path, totalBytes: length, proof: .digest, wasAlreadyComplete: true, checksum: checksum)
        }
    }

    // MARK: On file threads

    private func sha256(of file: FinishedDownload, _ disk: Disk) throws(DownloadError) -> [UInt8] {
        if let known = file.checksum, known.algorithm == .sha256 { return known.bytes }
        do throws(FileError) {
            let opened = try disk.fileSystem.openOurs(FilePath(file.path), .readOnly, for: .content)
            defer { opened.close() }
            return try ByteDigest.of(opened, length: opened.status().length, .sha256)
        } catch { throw DownloadError(error) }
    }

    /// Renames a file without replacing another one. Returns false if the name is taken.
    private func take(_ from: FilePath, as to: FilePath, _ disk: Disk) throws(FileError) -> Bool {
        do throws(FileError) {
            do throws(FileError) { try disk.fileSystem.rename(from, to: to, replacing: false) } catch
                where error.kind == .unsupported
            {
                try disk.fileSystem.link(from, to: to)
                // allow(ours): the file has the other name too.
                try disk.fileSystem.removeIfPresent(from)
            }
            return true
        } catch  where error.kind == .exists { return false }
    }

    private func has(_ path: FilePath, _ digest: [UInt8], length: ByteCount, _ disk: Disk) -> Bool {
        guard let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content) else { return false }
        defer { file.close() }
        guard (try? file.status())?.length == length else { return false }
        return (try? ByteDigest.of(file, length: length, .sha256)) == digest
    }

    /// Moves the record of the piece digests along with the file.
    private func moveDigests(of from: FilePath, to: FilePath, _ disk: Disk) throws(FileError) {
        guard var record = DigestFile.read(of: from, fileSystem: disk.fileSystem) else { return }
        record.path = to.lastComponent?.string ?? record.path
        try DigestFile.write(record, of: to, fileSystem: disk.fileSystem)
        DigestFile.remove(of: from, fileSystem: disk.fileSystem)
    }
}
