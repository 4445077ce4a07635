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

/// Encoded as its description, `sha-256=HEX`.
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

extension Checksum: CustomStringConvertible {
    /// Parses `ALGORITHM:HEX`, `ALGORITHM=HEX`, or only `HEX`, whose length then determines the algorithm.
    ///
    /// Algorithms: `md5`, `sha1`, `sha-1`, `sha256`, `sha-256`, `sha512`, `sha-512`, also written `md-5`, `sha2-256` and
    /// `sha2-512`. Case and surrounding spaces are ignored.
    public init(parsing text: String) throws(TextError) {
        let trimmed = text.trimmedText
        let utf8 = trimmed.utf8
        guard let separator = utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }) else {
            guard let algorithm = DigestAlgorithm(hexDigitCount: utf8.count), let bytes = HexText.bytes(utf8),
                let checksum = Checksum(algorithm: algorithm, bytes: bytes)
            else { throw TextError(ErrorPhrase(.notAChecksum, TextError.quote(trimmed))) }
            self = checksum
            return
        }
        let name = trimmed[..<separator]
        guard let algorithm = DigestAlgorithm(name: name) else {
            throw TextError(ErrorPhrase(.unknownAlgorithm, TextError.quote(name)))
        }
        let digits = Array(trimmed[utf8.index(after: separator)...].trimmedText.utf8)
        guard digits.allSatisfy({ PercentEncoding.hexValue($0) != nil }) else {
            throw TextError(ErrorPhrase(.notHexadecimal, algorithm.rawValue))
        }
        guard let bytes = HexText.bytes(digits), let checksum = Checksum(algorithm: algorithm, bytes: bytes) else {
            throw TextError(
                ErrorPhrase(.digitCount, algorithm.rawValue, "\(algorithm.byteCount * 2)", "\(digits.count)"))
        }
        self = checksum
    }

    /// The digest in lower-case hexadecimal digits.
    public var hex: String { HexText.string(bytes) }

    /// `sha-256=HEX`, which ``init(parsing:)`` accepts.
    public var description: String { "\(algorithm.rawValue)=\(hex)" }
}

extension DigestAlgorithm {
    /// Creates an algorithm from its name, with or without the hyphen, ignoring case.
    package init?(name: some StringProtocol) {
        switch name.trimmedText.asciiLowercased {
        case "md5", "md-5": self = .md5
        case "sha1", "sha-1": self = .sha1
        case "sha256", "sha-256", "sha2-256": self = .sha256
        case "sha512", "sha-512", "sha2-512": self = .sha512
        default: return nil
        }
    }

    /// Creates the algorithm whose digests have this many hexadecimal digits.
    package init?(hexDigitCount: Int) {
        guard let algorithm = Self.allCases.first(where: { $0.byteCount * 2 == hexDigitCount }) else { return nil }
        self = algorithm
    }

    /// The strength of the algorithm; a digest of greater strength is harder to forge.
    package var strength: Int { byteCount }
}
