/// The name of a download inside Ferry: stable from the moment it is asked for until it is removed.
///
/// Shape: any non-empty text without control characters; the ones that Ferry makes are 16 lower-case hexadecimal digits.
public struct DownloadID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    /// Takes an identifier that was made elsewhere (in a client, in a catalogue) as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// Whether it has no characters that end a line or steer a terminal: it stands in logs and in what programs read.
    package var isOneLine: Bool {
        rawValue.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
