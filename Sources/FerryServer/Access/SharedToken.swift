import Crypto
public import FerryCore

/// A token that the clients of one interface share, such as a door or the metrics. Stored as a digest.
public struct SharedToken: Sendable {
    private let digest: [UInt8]
    /// The token, if this start of the daemon generated it; to be shown once.
    public let made: String?

    /// The maximum length of a token, or of the path of its file.
    public static let mostBytes = 4096

    /// Whether a text is a valid value of the setting: 1 to ``mostBytes`` bytes, none of them a control character.
    public static func isUsable(_ text: String) -> Bool {
        (1...mostBytes).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    /// Reads the token that the setting gives: a text, or a file after `@`. Without a setting, the token is generated and kept in
    /// the file at `path`.
    ///
    /// Throws `invalidRequest` if the named file is not private or has no token, and the errors of ``kept(in:)``.
    public static func read(_ setting: String?, else path: String) throws(DownloadError) -> SharedToken {
        guard let setting else { return try kept(in: path) }
        guard let file = setting.dropping(prefix: "@") else { return SharedToken(setting) }
        guard
            let token = PrivateFile(String(file), most: mostBytes).read()?.trimmedText, isUsable(token)
        else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noTokenFile, String(file)), recovery: .needsUser)
        }
        return SharedToken(token)
    }

    init(_ token: String, isMade: Bool = false) {
        digest = Self.digest(token)
        made = isMade ? token : nil
    }

    /// Reads the token that an earlier start generated; generates one if there is none.
    ///
    /// Throws `disk` if the file cannot be written, because nobody could look up the token.
    private static func kept(in path: String) throws(DownloadError) -> SharedToken {
        let file = PrivateFile(path, most: mostBytes)
        if let token = file.read()?.trimmedText,
            isUsable(token)
        {
            return SharedToken(token)
        }
        file.keepUnreadable()
        let token = RandomText.hex(bytes: 16)
        try file.write(token + "\n")
        return SharedToken(token, isMade: true)
    }

    /// Compares in a time that does not depend on the token.
    public func matches(_ token: String) -> Bool {
        zip(digest, Self.digest(token)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func digest(_ token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }
}
