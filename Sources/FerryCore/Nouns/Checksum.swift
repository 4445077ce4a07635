/// A digest algorithm that Ferry can verify a file with.
public enum DigestAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    case md5
    case sha1 = "sha-1"
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    /// The length of a digest in bytes.
    package var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }
}

/// The expected digest of a whole file.
public struct Checksum: Sendable, Hashable {
    public let algorithm: DigestAlgorithm
    /// The raw digest, as long as its algorithm requires.
    public let bytes: [UInt8]

    /// Creates a checksum from a raw digest. Returns `nil` when its length is not that of the algorithm.
    public init?(algorithm: DigestAlgorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }
}

/// Coded as its description, `sha-256=HEX`.
extension Checksum: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        do throws(TextError) { try self.init(parsing: text) } catch {
            throw DownloadError(.invalidRequest, error.reason)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
