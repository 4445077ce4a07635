/// The name of a download inside Ferry: stable from the moment it is asked for until it is removed.
///
/// Shape: any non-empty text; the ones that Ferry makes are 16 lower-case hexadecimal digits.
public struct DownloadID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    /// Takes an identifier that was made elsewhere (in a client, in a catalogue) as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }
}
