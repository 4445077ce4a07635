/// The identifier of a download: stable from the request until the download is removed.
///
/// Shape: any non-empty text without control characters. Generated identifiers are 13 lower-case characters of
/// Crockford's base-32 alphabet (64 random bits).
public struct DownloadID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    /// Creates an identifier from existing text (of a client, of a catalogue), unchecked.
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
