import Crypto
package import FerryCore

/// Digests of data in memory and of file prefixes.
package enum ByteDigest {
    /// Returns the raw digest of `bytes`.
    package static func of(_ bytes: UnsafeRawBufferPointer, _ algorithm: DigestAlgorithm) -> [UInt8] {
        var digest = RunningDigest(algorithm)
        digest.update(bytes)
        return digest.finish()
    }

    /// Returns the raw digest of `bytes`.
    package static func of(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) -> [UInt8] {
        bytes.withUnsafeBytes { of($0, algorithm) }
    }

    /// Returns the raw digest of the first `length` bytes of `file`.
    package static func of(
        _ file: any File, length: ByteCount, _ algorithm: DigestAlgorithm
    ) throws(FileError) -> [UInt8] {
        var digest = PrefixDigest(algorithm, of: file)
        try digest.advance(to: length)
        return digest.finish()
    }
}

/// A running digest with any of the supported algorithms.
package struct RunningDigest: Sendable {
    private enum State: Sendable {
        case md5(Insecure.MD5)
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
        case sha512(SHA512)
    }
    private var state: State

    package init(_ algorithm: DigestAlgorithm) {
        state =
            switch algorithm {
            case .md5: .md5(.init())
            case .sha1: .sha1(.init())
            case .sha256: .sha256(.init())
            case .sha512: .sha512(.init())
            }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .md5(var hash):
            hash.update(bufferPointer: bytes)
            state = .md5(hash)
        case .sha1(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha1(hash)
        case .sha256(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha256(hash)
        case .sha512(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha512(hash)
        }
    }

    package func finish() -> [UInt8] {
        switch state {
        case .md5(let hash): Array(hash.finalize())
        case .sha1(let hash): Array(hash.finalize())
        case .sha256(let hash): Array(hash.finalize())
        case .sha512(let hash): Array(hash.finalize())
        }
    }
}

/// The digest of a file's prefix, or of the bytes from a later offset on. It is extended while the file grows, so that the file is
/// read at most once.
///
/// A value type: copies are independent, and ``finish()`` does not end the digest.
package struct PrefixDigest: Sendable {
    package let algorithm: DigestAlgorithm
    /// The offset in the file where the read bytes end.
    package private(set) var position: ByteCount
    private let file: any File
    private var digest: RunningDigest
    /// The additional digests for ``recorded``: those of the pieces, and the SHA-256 if ``algorithm`` is another.
    private var pieces: PieceDigester?
    private var sha256: RunningDigest?

    package init(_ algorithm: DigestAlgorithm, of file: any File, from start: ByteCount = 0) {
        self.algorithm = algorithm
        self.file = file
        position = start
        digest = RunningDigest(algorithm)
    }

    /// Creates the digest of a file from its start, which also computes ``recorded``.
    init(_ algorithm: DigestAlgorithm, of file: any File, recordingPiecesOf total: ByteCount?) {
        self.init(algorithm, of: file)
        pieces = PieceDigester(total: total)
        sha256 = algorithm == .sha256 ? nil : RunningDigest(.sha256)
    }

    /// Extends the digest up to `end`, in pieces of 1 MiB; does nothing if `end` is not after ``position``.
    ///
    /// Keeps the progress made before an error; throws ``FileError/Kind/endedEarly`` if the file is shorter.
    package mutating func advance(to end: ByteCount) throws(FileError) {
        guard end > position else { return }
        let size = Int(min(end - position, 1 << 20))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { buffer.deallocate() }
        while position < end {
            let piece = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(end - position, ByteCount(size)))))
            let count = try file.read(into: piece, at: position)
            guard count == piece.count else { throw FileError(.read, file.path, kind: .endedEarly) }
            digest.update(UnsafeRawBufferPointer(piece))
            sha256?.update(UnsafeRawBufferPointer(piece))
            pieces?.update(UnsafeRawBufferPointer(piece))
            position += ByteCount(count)
        }
    }

    /// Returns the raw digest of the bytes before ``position``.
    package func finish() -> [UInt8] { digest.finish() }

    /// The digests to store with the file, covering the bytes before ``position``; `nil` if they are not computed.
    var recorded: RecordedDigests? {
        guard let pieces, let checksum = Checksum(algorithm: .sha256, bytes: (sha256 ?? digest).finish()) else {
            return nil
        }
        let found = pieces.finish()
        return RecordedDigests(checksum: checksum, pieces: found.map { $0.count > 1 } == true ? found : nil)
    }
}
