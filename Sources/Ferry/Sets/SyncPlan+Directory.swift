import FerryCore
import FerryEngine
import SystemPackage

extension SyncPlan.Directory {
    /// The directory of a set on the disk.
    ///
    /// - Parameters:
    ///   - fileSystem: Confined to the directory.
    ///   - restoringTimes: Whether a file that has the bytes of its record gets its recorded time again, by which it is known.
    ///     Otherwise nothing is written.
    init(
        _ root: FilePath, _ manifest: [FilePath: FileRecord], _ fileSystem: any FileSystem, restoringTimes: Bool
    ) {
        self.init(
            manifest: manifest, file: { SyncPlan.LocalFile.read(root.appending($0), fileSystem) },
            isSame: { Self.isSame(root.appending($0.path), $0, fileSystem, restoringTimes) },
            isDownloaded: { Self.isDownloaded(root.appending($0.path), from: $0.sources[0], fileSystem) },
            isBlocked: { path in
                guard let status = try? fileSystem.statusIfPresent(root.appending(path)) else { return false }
                return status.kind != .regular
            },
            isContradicted: { Self.proof(of: $0, at: root.appending($0.path), fileSystem) == false })
    }

    /// Whether the file keeps the digest of its record; `nil` if it keeps none.
    private static func proof(of record: FileRecord, at path: FilePath, _ fileSystem: any FileSystem) -> Bool? {
        guard let file = try? fileSystem.openOurs(path, .readOnly, for: .content) else { return nil }
        defer { file.close() }
        guard let status = try? file.status(), let kept = SourceAttribute.read(file), kept.isOf(status),
            let checksum = kept.checksum, checksum.algorithm == record.checksum?.algorithm
        else { return nil }
        return checksum == record.checksum
    }

    /// Whether the file is the one of its record, by what it keeps itself or by its bytes: only then may it be deleted.
    static func isProven(_ record: FileRecord, at path: FilePath, _ fileSystem: any FileSystem) -> Bool {
        proof(of: record, at: path, fileSystem) ?? isSame(path, record, fileSystem, false)
    }

    private static func isSame(
        _ path: FilePath, _ record: FileRecord, _ fileSystem: any FileSystem, _ restoresTime: Bool
    ) -> Bool {
        guard let checksum = record.checksum, let total = record.totalBytes,
            let file = try? fileSystem.openOurs(path, .readOnly, for: .content)
        else { return false }
        defer { file.close() }
        guard let digest = try? ByteDigest.of(file, length: total, checksum.algorithm), digest == checksum.bytes else {
            return false
        }
        guard restoresTime else { return true }
        if let time = record.modified.flatMap(FileTime.init(text:)) { try? file.setModificationTime(time) }
        return SyncPlan.LocalFile.read(path, fileSystem)?.modified == record.modified
    }

    private static func isDownloaded(_ path: FilePath, from url: DownloadURL, _ fileSystem: any FileSystem) -> Bool {
        guard let file = try? fileSystem.openOurs(path, .readOnly, for: .content) else { return false }
        defer { file.close() }
        guard let status = try? file.status() else { return false }
        return SourceAttribute.read(file)?.matches(url: url.text, status) ?? false
    }
}

extension SyncPlan.LocalFile {
    /// The regular file at a path; `nil` if there is none, or an error.
    static func read(_ path: FilePath, _ fileSystem: any FileSystem) -> SyncPlan.LocalFile? {
        guard let status = try? fileSystem.statusIfPresent(path), status.kind == .regular else { return nil }
        return SyncPlan.LocalFile(totalBytes: status.length, modified: status.modified.text)
    }
}
