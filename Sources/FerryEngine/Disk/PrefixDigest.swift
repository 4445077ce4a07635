package import FerryCore

/// The digest of a file's prefix, extended while the file grows, so that the file is read once at most.
///
/// A value type: copies are independent, and ``finish()`` does not end the digest.
package struct PrefixDigest: Sendable {
    package let algorithm: DigestAlgorithm
    /// The length of the prefix in bytes.
    package private(set) var position: ByteCount = 0
    private let file: any File
    private var digest: RunningDigest

    package init(_ algorithm: DigestAlgorithm, of file: any File) {
        self.algorithm = algorithm
        self.file = file
        digest = RunningDigest(algorithm)
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
            position += ByteCount(count)
        }
    }

    /// Returns the raw digest of the first ``position`` bytes.
    package func finish() -> [UInt8] { digest.finish() }
}
