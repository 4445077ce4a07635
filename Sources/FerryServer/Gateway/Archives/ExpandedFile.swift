/// Why a compressed file cannot be expanded.
package enum ExpansionError: Error, Sendable, Hashable {
    case damaged
    /// The content is larger than the bound, or would take too much memory.
    case tooLarge
    /// The form is another one than gzip, xz and plain bytes.
    case unsupported
}

/// The content of a file that is compressed with gzip (RFC 1952) or xz, or not at all, piece by piece. Pure.
///
/// The content has a bound, and of it no more is held than the window of the form and one piece. Checks of integrity
/// that the forms carry are not compared: the digest of the whole file is known to whoever reads it.
package struct ExpandedFile {
    // One of them is there until the content has ended; changed where it is, so that its arrays are not copied.
    private var plain: [UInt8]?
    private var gzip: GzipContent?
    private var xz: XZContent?
    private let most: Int
    private var total = 0

    /// Reads a file whose content has at most so many bytes. Throws for a form that is not known.
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

    /// The first bytes of bzip2, Zstandard, LZ4 and LZMA.
    private static let others: [[UInt8]] = [
        [0x42, 0x5A, 0x68], [0x28, 0xB5, 0x2F, 0xFD], [0x04, 0x22, 0x4D, 0x18], [0x5D, 0x00, 0x00],
    ]

    /// Returns the next piece of the content; `nil` at its end.
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

/// The end of an expanded content: what later parts of it may repeat, and what has not been handed out.
struct ExpansionWindow {
    private var bytes: [UInt8] = []
    /// The index of the first byte that was not handed out.
    private var start = 0
    private let size: Int

    init(size: Int) { self.size = size }

    /// The number of bytes that were not handed out.
    var pending: Int { bytes.count - start }

    var last: UInt8 { bytes.last ?? 0 }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// The byte at a distance before the end, 1 or more; `nil` before the beginning.
    func byte(at distance: Int) -> UInt8? { distance <= bytes.count ? bytes[bytes.count - distance] : nil }

    /// Repeats bytes from a distance before the end, 1 or more. Returns whether there are any.
    mutating func copy(_ count: Int, from distance: Int) -> Bool {
        guard distance >= 1, distance <= bytes.count else { return false }
        var index = bytes.count - distance
        for _ in 0..<count {
            bytes.append(bytes[index])
            index += 1
        }
        return true
    }

    /// Hands out what was not handed out.
    mutating func take() -> [UInt8] {
        if start > size + Self.slack {
            bytes.removeFirst(start - size)
            start = size
        }
        defer { start = bytes.count }
        return Array(bytes[start...])
    }

    /// Moving the window for each piece would take longer than making it.
    private static let slack = 1 << 20

    /// Forgets what may be repeated.
    mutating func reset() {
        bytes.removeFirst(start)
        start = 0
    }
}
