import FerryCore
import HTTPTypes

/// A response head as text. Additional lines that begin with `@` specify the parameters of the check.
///
///     HTTP/1.1 206 Partial Content
///     Content-Range: bytes 100-199/1000
///     @asked 100-199
struct HeadText {
    var head = ResponseHead(status: 200)
    /// The values of `@asked`, `@held` and `@rules`.
    private var notes: [String: String] = [:]

    /// Returns the heads of an input, separated by empty lines; at most three.
    static func heads(_ input: [UInt8]) -> [HeadText] {
        var heads: [HeadText] = []
        var lines: [ArraySlice<UInt8>] = []
        for line in input.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let bare = line.last == 0x0D ? line.dropLast() : line
            if bare.isEmpty {
                if !lines.isEmpty { heads.append(HeadText(lines)) }
                lines = []
                if heads.count == 3 { return heads }
            } else {
                lines.append(bare)
            }
        }
        if !lines.isEmpty { heads.append(HeadText(lines)) }
        return heads
    }

    private init(_ lines: [ArraySlice<UInt8>]) {
        for line in lines {
            if line.first == UInt8(ascii: "@") {
                let words = line.dropFirst().split(separator: UInt8(ascii: " "), maxSplits: 1)
                guard let name = words.first else { continue }
                notes[String(decoding: name, as: UTF8.self)] =
                    words.count > 1 ? String(decoding: words[1], as: UTF8.self) : ""
            } else if line.starts(with: "HTTP/".utf8) {
                let words = line.split(separator: UInt8(ascii: " "))
                let status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
                if let status, (100...999).contains(status) { head.status = status }
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            {
                // Without surrounding white space, as in the transport.
                let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
                head.headers.append(HTTPField(name: name, lenientValue: value))
            }
        }
    }

    /// Parses `@asked 5-10` or `@asked 5-`. If the line is missing, the request is for the whole file.
    var asked: RangeAsk {
        guard let note = notes["asked"], let range = Self.ranges(note, open: true)?.first else { return .whole }
        return range.upperBound == .max ? .from(range.lowerBound) : .range(range)
    }

    /// Parses `@held 0-99,200-299`.
    var held: RangeSet<ByteCount> {
        RangeSet(
            pairs: (notes["held"].flatMap { Self.ranges($0, open: false) } ?? []).map {
                [$0.lowerBound, $0.upperBound]
            })
            ?? RangeSet()
    }

    /// Whether `@rules` contains this letter.
    func has(rule letter: Character) -> Bool { notes["rules"]?.contains(letter) ?? false }

    private static func ranges(_ text: String, open: Bool) -> [Range<ByteCount>]? {
        var ranges: [Range<ByteCount>] = []
        for part in text.split(at: ",").prefix(16) {
            let ends = part.split(at: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = ByteCount(ends[0]), first >= 0, first < 1 << 62 else { return nil }
            if open, ends[1].isEmpty {
                ranges.append(first..<ByteCount.max)
            } else {
                guard let last = ByteCount(ends[1]), last >= first, last < 1 << 62 else { return nil }
                ranges.append(first..<(last + 1))
            }
        }
        return ranges
    }
}
