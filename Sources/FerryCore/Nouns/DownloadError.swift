/// The one error that Ferry throws: what failed, on which thing, and what can be done.
///
/// It holds no secrets: URLs in it show `?…` in place of their query.
public struct DownloadError: Error, Sendable, Hashable {
    /// What kind of failure this is. Codes may be added; switch over them with a default.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request makes no sense: no URL, a bad destination, an unusable option.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
        /// No way to the server, or it broke too often.
        public static let network = Code(rawValue: "network")
        /// The server answered, and refuses or says things that cannot be used.
        public static let refused = Code(rawValue: "refused")
        /// The link no longer works; another URL for the same file lets it go on.
        public static let freshLink = Code(rawValue: "freshLink")
        /// The server asks for credentials, or does not accept the ones given.
        public static let credentials = Code(rawValue: "credentials")
        /// The file on the server is not the one that was begun.
        public static let remoteChanged = Code(rawValue: "remoteChanged")
        /// The whole file does not have the digest it must have.
        public static let checksum = Code(rawValue: "checksum")
        /// The strength of proof that was asked for cannot be had.
        public static let unproven = Code(rawValue: "unproven")
        /// Reading, writing or syncing failed.
        public static let disk = Code(rawValue: "disk")
        /// Not enough space.
        public static let diskFull = Code(rawValue: "diskFull")
        /// Something else has the name, or another process has the download.
        public static let conflict = Code(rawValue: "conflict")
        /// The same download is listed already.
        public static let duplicate = Code(rawValue: "duplicate")
        /// The catalogue cannot be used: another process has it, or it cannot be opened.
        public static let catalogue = Code(rawValue: "catalogue")
        /// Nothing worth keeping is there, or what was kept cannot be used.
        public static let notResumable = Code(rawValue: "notResumable")
        /// There is no such download.
        public static let notFound = Code(rawValue: "notFound")
        /// That cannot be done in the state that the download is in.
        public static let wrongState = Code(rawValue: "wrongState")
        /// TLS: the server could not prove who it is.
        public static let certificate = Code(rawValue: "certificate")
        /// The file is larger than was allowed.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// It was cancelled; only thrown to who waits for the end.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Ferry was shut down while it was under way; what is there is kept.
        public static let shutDown = Code(rawValue: "shutDown")
        /// The daemon does not run and cannot be started, or does not answer.
        public static let daemonUnavailable = Code(rawValue: "daemonUnavailable")
        /// A defect in Ferry.
        public static let `internal` = Code(rawValue: "internal")
    }

    /// What would help.
    public enum Recovery: Sendable, Hashable {
        /// Trying again later may work; the server's wish, if it gave one.
        case transient(retryAfter: Duration?)
        /// Trying again gives the same.
        case permanent
        /// The user can do something about it.
        case needsUser
    }

    /// What kind of failure it is.
    public var code: Code
    /// One sentence: what failed, on which thing.
    public var message: String
    /// What the user can do; a sentence, or nothing.
    public var suggestion: String?
    /// What lies under it, in the words of the system or a library.
    public var underlying: String?
    /// What would help.
    public var recovery: Recovery
    /// What ``message`` and ``suggestion`` say, for other languages; `nil` where they have no translation.
    package var phrase: ErrorPhrase?
    package var suggestionPhrase: ErrorPhrase?

    public init(
        _ code: Code, _ message: String, suggestion: String? = nil, underlying: String? = nil,
        recovery: Recovery = .permanent
    ) {
        self.code = code
        self.message = message
        self.suggestion = suggestion
        self.underlying = underlying
        self.recovery = recovery
    }
}

extension DownloadError: CustomStringConvertible {
    public var description: String { underlying.map { "\(message): \($0)" } ?? message }
}
