/// The identifier of a download: stable from the request until the download is removed.
///
/// An identifier is any non-empty text without control characters. Generated identifiers are 13 lower-case characters of
/// Crockford's base-32 alphabet (64 random bits).
public struct DownloadID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    /// Creates an identifier from existing text (from a client or a catalogue) without checking it.
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// Whether the text has no line breaks or control characters, and is therefore safe in logs, terminals and JSON
    /// lines.
    package var isOneLine: Bool {
        rawValue.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}

extension DownloadID {
    private static let characters = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let length = 13

    /// Creates the identifier of 64 bits: 13 base-32 characters, the lowest bits first, without i, l, o and u, which
    /// resemble other characters. Strings of at most 15 bytes are stored inline, which saves memory in long lists.
    package init(bits: UInt64) {
        let text = (0..<Self.length).map { Self.characters[Int(bits >> (5 * UInt64($0)) & 31)] }
        self.init(rawValue: String(decoding: text, as: UTF8.self))
    }

    /// The bits of an identifier in that form; `nil` for any other identifier.
    package var bits: UInt64? {
        guard rawValue.utf8.count == Self.length else { return nil }
        var bits: UInt64 = 0
        for (index, character) in rawValue.utf8.enumerated() {
            guard let value = Self.characters.firstIndex(of: character) else { return nil }
            bits |= UInt64(value) << (5 * UInt64(index))
        }
        // The last character encodes only four bits.
        return DownloadID(bits: bits) == self ? bits : nil
    }
}
