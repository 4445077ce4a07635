/// Why a compressed file cannot be expanded.
package enum ExpansionError: Error, Sendable, Hashable {
    case damaged
    /// The content exceeds the maximum size, or would require too much memory.
    case tooLarge
    /// The format is not gzip, xz or plain bytes.
    case unsupported
}

/// The content, piece by piece, of a file that is compressed with gzip (RFC 1952) or xz, or not compressed. Pure.
///
/// The size of the content is limited. Of the content, only the window of the format and one piece are in memory. The integrity
/// checks of the formats are not verified, because the reader has already verified the digest of the whole file.
package struct ExpandedFile {
    // One of these is set until the content ends. It is mutated in place, so that its arrays are not copied.
    private var plain: [UInt8]?
    private var gzip: GzipContent?
    private var xz: XZContent?
    private let most: Int
    private var total = 0

    /// Reads a file whose content has at most `most` bytes. Throws if the format is not supported.
    package init(_ file: [UInt8], most: Int) throws(ExpansionError) {
        self.most = most
        if file.starts(with: [0x1F, 0x8B]) {
            gzip = try GzipContent(file)
        } else if file.starts(with: XZContent.magic) {
            xz = try XZContent(file)
        } else if Self.others.contains(where: { file.starts(with: $0) }) {
            throw .unsupported
        } else {
            plain = file
        }
    }

    /// The first bytes of files in bzip2, Zstandard, LZ4 and LZMA.
    private static let others: [[UInt8]] = [
        [0x42, 0x5A, 0x68], [0x28, 0xB5, 0x2F, 0xFD], [0x04, 0x22, 0x4D, 0x18], [0x5D, 0x00, 0x00],
    ]

    /// Returns the next piece of the content; `nil` at the end.
    package mutating func next() throws(ExpansionError) -> [UInt8]? {
        guard total <= most else { return nil }
        var piece: [UInt8]?
        if let plain {
            piece = plain.isEmpty ? nil : plain
            self.plain = nil
        } else if gzip != nil {
            piece = try gzip?.next() ?? nil
        } else {
            piece = try xz?.next() ?? nil
        }
        total += piece?.count ?? 0
        guard total <= most else {
            (gzip, xz) = (nil, nil)
            throw .tooLarge
        }
        return piece
    }
}

/// The last bytes of expanded content: bytes that later parts may repeat, and bytes that have not been returned yet.
struct ExpansionWindow {
    private var bytes: [UInt8] = []
    /// The index of the first byte that has not been returned.
    private var start = 0
    private let size: Int

    init(size: Int) { self.size = size }

    /// The number of bytes that have not been returned.
    var pending: Int { bytes.count - start }

    var last: UInt8 { bytes.last ?? 0 }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Returns the byte at a distance of at least 1 before the end; `nil` before the beginning.
    func byte(at distance: Int) -> UInt8? { distance <= bytes.count ? bytes[bytes.count - distance] : nil }

    /// Repeats bytes from a distance of at least 1 before the end. Returns `false` if the distance exceeds the available bytes.
    mutating func copy(_ count: Int, from distance: Int) -> Bool {
        guard distance >= 1, distance <= bytes.count else { return false }
        var index = bytes.count - distance
        for _ in 0..<count {
            bytes.append(bytes[index])
            index += 1
        }
        return true
    }

    /// Returns the bytes that have not been returned yet.
    mutating func take() -> [UInt8] {
        if start > size + Self.slack {
            bytes.removeFirst(start - size)
            start = size
        }
        defer { start = bytes.count }
        return Array(bytes[start...])
    }

    /// The number of surplus bytes before the window is moved, because moving it for each piece would take longer than decoding
    /// the piece.
    private static let slack = 1 << 20

    /// Discards the bytes that may be repeated.
    mutating func reset() {
        bytes.removeFirst(start)
        start = 0
    }
}
