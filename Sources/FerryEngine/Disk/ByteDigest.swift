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
struct RunningDigest: Sendable {
    private enum State: Sendable {
        case md5(Insecure.MD5)
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
        case sha512(SHA512)
    }
    private var state: State

    init(_ algorithm: DigestAlgorithm) {
        state =
            switch algorithm {
            case .md5: .md5(.init())
            case .sha1: .sha1(.init())
            case .sha256: .sha256(.init())
            case .sha512: .sha512(.init())
            }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
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

    func finish() -> [UInt8] {
        switch state {
        case .md5(let hash): Array(hash.finalize())
        case .sha1(let hash): Array(hash.finalize())
        case .sha256(let hash): Array(hash.finalize())
        case .sha512(let hash): Array(hash.finalize())
        }
    }
}
