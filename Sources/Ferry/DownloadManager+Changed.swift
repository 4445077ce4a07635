import FerryCore
import FerryEngine
import SystemPackage

/// API for files of completed downloads that were touched, copied or restored later.
extension DownloadManager {
    /// Accepts the file at a completed download's path as the published file if its bytes have the digest that the download was
    /// verified with. Returns whether the file is now the published file; `false` if no digest is known.
    package func adoptChangedFile(of download: Download) async throws(DownloadError) -> Bool {
        try await scheduler?.adoptChangedFile(of: download.live) ?? false
    }

    /// The result of comparing a file with its digest.
    package enum Comparison: Sendable, Hashable {
        case intact
        /// The file has different bytes, or is missing.
        case damaged
        /// No digest is known.
        case unknown
    }

    /// Reads the file of a completed download, and compares it with the digest that it was published with. Returns `nil` if the
    /// download is not completed.
    package func compare(_ download: Download) async throws(DownloadError) -> Comparison? {
        await scheduler?.compare(download.live)
    }
}

extension Scheduler {
    fileprivate func compare(_ live: LiveDownload) async -> DownloadManager.Comparison? {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard case .completed = live.current, let finished = live.finished, !finished.path.isEmpty else { return nil }
        guard let expected = finished.checksum ?? live.request.checksum else { return .unknown }
        let found = await withFiles(within: live.request.root) { fileSystem in
            Self.file(at: finished.path, expected, length: finished.totalBytes, nil, fileSystem)
        }
        return found == nil ? .damaged : .intact
    }

    fileprivate func adoptChangedFile(of live: LiveDownload) async throws(DownloadError) -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard case .completed = live.current, let finished = live.finished, !finished.path.isEmpty,
            let expected = finished.checksum ?? live.request.checksum
        else { return false }
        let known = try await store?.row(live.id)?.published
        let found = await withFiles(within: live.request.root) { fileSystem in
            Self.file(at: finished.path, expected, length: finished.totalBytes, known, fileSystem)
        }
        guard let found else { return false }
        if found != known { try await commit([.update(live.id, [.published(found)])]) }
        return true
    }

    /// The fingerprint of the file if it has this digest, `nil` otherwise. A file whose fingerprint equals `known` is not read.
    static func file(
        at path: String, _ expected: Checksum, length: ByteCount, _ known: PublishedFile?, _ fileSystem: any FileSystem
    ) -> PublishedFile? {
        guard let file = try? fileSystem.openOurs(FilePath(path), .readOnly, for: .content) else { return nil }
        defer { file.close() }
        func fingerprint() -> PublishedFile? {
            guard let status = try? file.status() else { return nil }
            return PublishedFile(
                path: path, device: status.device, inode: status.inode, length: status.length,
                modified: status.modified)
        }
        guard let before = fingerprint(), before.length == length else { return nil }
        if before == known { return before }
        var digest = PrefixDigest(expected.algorithm, of: file)
        guard (try? digest.advance(to: length)) != nil, digest.finish() == expected.bytes, fingerprint() == before
        else {
            return nil
        }
        return before
    }
}
