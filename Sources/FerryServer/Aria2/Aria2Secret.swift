import Crypto
import FerryCore

/// The token that calls present, as a digest.
struct Aria2Secret: Sendable {
    private let digest: [UInt8]
    /// The token, if it was made by this start of the daemon; to be shown once.
    let made: String?

    /// The maximum length of a token, or of the path of its file.
    static let mostBytes = 4096

    /// Whether a text can be the setting.
    static func isUsable(_ text: String) -> Bool {
        (1...mostBytes).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    /// The token of the settings: a text, a file after `@`, or else one that is made and kept in the file at `path`.
    ///
    /// Throws `invalidRequest` if the named file is not private or has no token, and errors of ``kept(in:)``.
    static func read(_ setting: String?, else path: String) throws(DownloadError) -> Aria2Secret {
        guard let setting else { return try kept(in: path) }
        guard let file = setting.dropping(prefix: "@") else { return Aria2Secret(setting) }
        guard
            let token = PrivateFile.read(String(file), most: mostBytes)?.trimmedText, isUsable(token)
        else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noTokenFile, String(file)), recovery: .needsUser)
        }
        return Aria2Secret(token)
    }

    init(_ token: String, isMade: Bool = false) {
        digest = Self.digest(token)
        made = isMade ? token : nil
    }

    /// Reads the token that an earlier start has made; makes one where there is none.
    ///
    /// Throws `disk` if the file cannot be written, so that a token that nobody can look up is not used.
    private static func kept(in path: String) throws(DownloadError) -> Aria2Secret {
        if let token = PrivateFile.read(path, most: mostBytes)?.trimmedText,
            isUsable(token)
        {
            return Aria2Secret(token)
        }
        PrivateFile.keepUnreadable(path)
        let token = RandomText.hex(bytes: 16)
        try PrivateFile.write(token + "\n", to: path)
        return Aria2Secret(token, isMade: true)
    }

    /// Compares in a time that does not depend on the token.
    func matches(_ token: String) -> Bool {
        zip(digest, Self.digest(token)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func digest(_ token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }
}

/// What one message has shown of its sender.
struct Aria2Visit: Sendable {
    /// The maximum number of calls in a message.
    static let mostCalls = 10_000

    let format: Aria2Format
    /// Whether a call had the token.
    private(set) var isKnown = false
    /// Whether a call had no token or a wrong one. Those of later calls are not compared, so that a message, however many
    /// calls it has, tries one token.
    private(set) var isRefused = false
    private var calls = 0

    init(_ format: Aria2Format) { self.format = format }

    /// Throws unless the call has the token.
    mutating func present(_ token: String?, to secret: Aria2Secret) throws(Aria2Error) {
        guard !isRefused, let token, secret.matches(token) else {
            isRefused = true
            throw .unauthorized
        }
        isKnown = true
    }

    mutating func count() throws(Aria2Error) {
        calls += 1
        if calls > Self.mostCalls { throw Aria2Error("At most \(Self.mostCalls) calls at a time.") }
    }
}
