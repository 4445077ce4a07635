/// The digests of a file's pieces, which show which bytes of the file are damaged. All pieces except the last have the same
/// length.
///
/// Encoded as an object of `algorithm`, `pieceBytes` and `digests`, the concatenated hexadecimal digests.
public struct PieceDigests: Sendable, Hashable {
    /// The maximum number of pieces.
    public static let mostPieces = 65_536

    public let algorithm: DigestAlgorithm
    /// The length of each piece in bytes, at least 1; the last piece may be shorter.
    public let pieceBytes: ByteCount
    /// The raw digests, concatenated.
    public let digests: [UInt8]

    /// Creates the digests of 1 to ``mostPieces`` pieces. Returns `nil` if a value is out of bounds, or if the length
    /// of `digests` is not a multiple of a digest's length.
    public init?(algorithm: DigestAlgorithm, pieceBytes: ByteCount, digests: [UInt8]) {
        guard 1..<ByteCount.bound ~= pieceBytes, digests.count.isMultiple(of: algorithm.byteCount),
            1...Self.mostPieces ~= digests.count / algorithm.byteCount
        else { return nil }
        (self.algorithm, self.pieceBytes, self.digests) = (algorithm, pieceBytes, digests)
    }

    /// The number of pieces.
    public var count: Int { digests.count / algorithm.byteCount }

    /// Whether the digests match the number of pieces of a file of `total` bytes.
    package func cover(_ total: ByteCount) -> Bool { total > 0 && (total - 1) / pieceBytes + 1 == ByteCount(count) }

    /// The raw digest of a piece.
    package func digest(of piece: Int) -> ArraySlice<UInt8> {
        digests[piece * algorithm.byteCount..<(piece + 1) * algorithm.byteCount]
    }

    /// The byte range of a piece, in a file of `total` bytes that the pieces ``cover(_:)``.
    package func range(of piece: Int, total: ByteCount) -> Range<ByteCount> {
        let start = ByteCount(piece) * pieceBytes
        return start..<min(total, start + pieceBytes)
    }
}

extension PieceDigests: Codable {
    private enum CodingKeys: String, CodingKey { case algorithm, pieceBytes, digests }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let digits = try container.decode(String.self, forKey: .digests)
        let pieces = PieceDigests(
            algorithm: try container.decode(DigestAlgorithm.self, forKey: .algorithm),
            pieceBytes: try container.decode(ByteCount.self, forKey: .pieceBytes),
            digests: HexText.bytes(digits.utf8) ?? [])
        guard let pieces else { throw DownloadError(.invalidRequest, ErrorPhrase(.unusablePieces)) }
        self = pieces
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(algorithm, forKey: .algorithm)
        try container.encode(pieceBytes, forKey: .pieceBytes)
        try container.encode(HexText.string(digests), forKey: .digests)
    }
}
