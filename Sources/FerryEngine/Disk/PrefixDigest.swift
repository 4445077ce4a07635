package import FerryCore

/// The digest of a file's beginning, which follows as that grows: at the end at most one read of the file was spent.
///
/// A value: a copy goes on by itself, and ``finish()`` ends nothing.
package struct PrefixDigest: Sendable {
    package let algorithm: DigestAlgorithm
    /// How many bytes of the file are in it.
    package private(set) var position: ByteCount = 0
    private let file: any File
    private var digest: RunningDigest

    package init(_ algorithm: DigestAlgorithm, of file: any File) {
        self.algorithm = algorithm
        self.file = file
        digest = RunningDigest(algorithm)
    }

    /// Reads on, up to `end`, in pieces of 1 MiB; a place before ``position`` changes nothing.
    ///
    /// On an error it stands where it got to; ``FileError/Kind/endedEarly`` when the file is shorter.
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

    /// The raw digest of the first ``position`` bytes.
    package func finish() -> [UInt8] { digest.finish() }
}
