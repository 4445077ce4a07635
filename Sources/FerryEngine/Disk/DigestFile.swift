package import FerryCore
package import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file of digests beside a downloaded file: `.NAME.ferry-digests`, a ``FileRecord`` as JSON.
///
/// It contains the digest of each piece of 1 MiB, so that only damaged pieces are fetched again.
/// A file of a single piece usually has none, because its digest is in ``SourceAttribute``.
package enum DigestFile {
    package static let suffix = ReservedName.digests.text
    /// The maximum size in bytes: the digests of ``PieceDigests/mostPieces`` pieces, and the URLs.
    static let mostBytes: ByteCount = 8 << 20

    /// Returns the path of the digests of a file; `nil` if the name would be too long.
    package static func path(of file: FilePath) -> FilePath? {
        guard let name = file.lastComponent?.string else { return nil }
        let hidden = "." + name + suffix
        return DownloadPaths.isBareName(hidden) ? file.removingLastComponent().appending(hidden) : nil
    }

    /// Writes the digests of a file and replaces earlier ones. Blocks.
    ///
    /// Throws `unsupported` for digests that could not be read back. The file is not synced: digests lost in a power failure
    /// count as missing, and damaged ones are refused.
    package static func write(
        _ record: FileRecord, of file: FilePath, fileSystem: any FileSystem
    ) throws(FileError) {
        guard let path = path(of: file) else { throw FileError(.create, file, kind: .unsupported) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(record), ByteCount(text.count) < mostBytes else {
            throw FileError(.create, path, kind: .unsupported)
        }
        let new = DownloadPaths.draft(of: path)
        // allow(ours): checked just now.
        if try fileSystem.ours(at: new, for: .removal) != nil { try fileSystem.removeIfPresent(new) }
        let created = try fileSystem.create(new, mode: 0o600)
        defer { created.close() }
        try created.write(Array(text) + [0x0A], at: 0)
        try fileSystem.rename(new, to: path, replacing: true)
    }

    /// Reads the digests of a file; `nil` unless this user has written some. Blocks.
    package static func read(of file: FilePath, fileSystem: any FileSystem) -> FileRecord? {
        guard let path = path(of: file), let opened = try? fileSystem.openOurs(path, .readOnly) else { return nil }
        defer { opened.close() }
        return SourceAttribute.read(opened) == nil ? read(opened) : nil
    }

    /// Reads an open file of digests; `nil` if its content is not valid. Blocks.
    package static func read(_ opened: any File) -> FileRecord? {
        guard let length = try? opened.status().length, length <= mostBytes,
            let bytes = try? opened.read(0..<length)
        else { return nil }
        return try? JSONDecoder().decode(FileRecord.self, from: Data(bytes))
    }

    /// Removes the digests of a file if this user has written some. Blocks.
    package static func remove(of file: FilePath, fileSystem: any FileSystem) {
        guard let path = path(of: file), let found = try? fileSystem.ours(at: path, for: .removal), found.length >= 0
        else { return }
        // allow(ours): checked above.
        try? fileSystem.removeIfPresent(path)
    }
}

/// The digests of the pieces of a file, computed while the file is read in order.
struct PieceDigester: Sendable {
    /// The length of a piece if the size of the file is unknown, or at most ``PieceDigests/mostPieces`` times this length.
    static let pieceBytes: ByteCount = 1 << 20

    private let pieceBytes: ByteCount
    private var current = RunningDigest(.sha256)
    /// The number of bytes that the current piece still needs.
    private var missing: ByteCount
    private var digests: [UInt8] = []

    /// - Parameter total: The size of the file, if known. The length of a piece is doubled until the number of pieces is allowed.
    init(total: ByteCount?) {
        var pieceBytes = Self.pieceBytes
        while let total, (total - 1) / pieceBytes >= PieceDigests.mostPieces { pieceBytes *= 2 }
        (self.pieceBytes, missing) = (pieceBytes, pieceBytes)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Int(min(missing, ByteCount(rest.count)))
            current.update(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            missing -= ByteCount(count)
            if missing == 0 { endPiece() }
        }
    }

    private mutating func endPiece() {
        digests += current.finish()
        current = RunningDigest(.sha256)
        missing = pieceBytes
    }

    /// Returns the digests, including the digest of an incomplete last piece; `nil` if there are none or too many.
    func finish() -> PieceDigests? {
        var whole = self
        if whole.missing < pieceBytes { whole.endPiece() }
        return PieceDigests(algorithm: .sha256, pieceBytes: pieceBytes, digests: whole.digests)
    }
}

/// The digests of a whole file that ``DownloadRequest/recordsDigests`` stores.
struct RecordedDigests: Sendable, Hashable {
    var checksum: Checksum
    /// `nil` for a file of a single piece.
    var pieces: PieceDigests?
}
