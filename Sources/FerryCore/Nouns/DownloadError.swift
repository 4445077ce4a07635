/// The error type that Ferry throws: what failed, on which object, and how to recover.
///
/// Errors contain no secrets: the query of a URL is shown as `?…`.
public struct DownloadError: Error, Sendable, Hashable {
    /// The category of a failure. Codes may be added; switch over them with a default.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request is invalid: no URL, an invalid destination, an unusable option.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
        /// The server could not be reached, or the connection failed too often.
        public static let network = Code(rawValue: "network")
        /// The server refused the request, or its response cannot be used.
        public static let refused = Code(rawValue: "refused")
        /// The link has expired. The download can resume with another URL for the same file.
        public static let freshLink = Code(rawValue: "freshLink")
        /// The server requires credentials, or rejected the ones given.
        public static let credentials = Code(rawValue: "credentials")
        /// The file on the server is not the one that the download began with.
        public static let remoteChanged = Code(rawValue: "remoteChanged")
        /// The digest of the whole file is not the expected one.
        public static let checksum = Code(rawValue: "checksum")
        /// The required integrity check is not available.
        public static let unproven = Code(rawValue: "unproven")
        /// A file could not be read, written or synced.
        public static let disk = Code(rawValue: "disk")
        /// The disk has too little free space.
        public static let diskFull = Code(rawValue: "diskFull")
        /// The file name is in use, or another process is running the download.
        public static let conflict = Code(rawValue: "conflict")
        /// The same download is already in the list.
        public static let duplicate = Code(rawValue: "duplicate")
        /// The catalogue cannot be used: another process has locked it, or it cannot be opened.
        public static let catalogue = Code(rawValue: "catalogue")
        /// There is no partial content worth keeping, or the resume data cannot be used.
        public static let notResumable = Code(rawValue: "notResumable")
        /// No such download exists.
        public static let notFound = Code(rawValue: "notFound")
        /// The action is not possible in the download's current state.
        public static let wrongState = Code(rawValue: "wrongState")
        /// TLS: the server's certificate could not be verified.
        public static let certificate = Code(rawValue: "certificate")
        /// The file is larger than the request allows.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The download was cancelled; thrown only to callers that await its end.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Ferry was shut down while the download was running; partial content is kept.
        public static let shutDown = Code(rawValue: "shutDown")
        /// The daemon is not running and cannot be started, or does not respond.
        public static let daemonUnavailable = Code(rawValue: "daemonUnavailable")
        /// A defect in Ferry.
        public static let `internal` = Code(rawValue: "internal")
    }

    /// How a failure can be recovered from.
    public enum Recovery: Sendable, Hashable {
        /// A later retry may succeed. `retryAfter` is the delay that the server requested, if any.
        case transient(retryAfter: Duration?)
        /// A retry gives the same result.
        case permanent
        /// The user has to act.
        case needsUser
    }

    /// The category of the failure.
    public var code: Code
    /// One sentence: what failed, on which object.
    public var message: String { didSet { if message != oldValue { phrase = nil } } }
    /// One sentence about what the user can do; `nil` if there is nothing.
    public var suggestion: String? { didSet { if suggestion != oldValue { suggestionPhrase = nil } } }
    /// The underlying error, in the words of the system or of a library.
    public var underlying: String?
    /// How the failure can be recovered from. Default ``Recovery/permanent``.
    public var recovery: Recovery
    /// The translatable forms of ``message`` and ``suggestion``; `nil` where there is no translation.
    package internal(set) var phrase: ErrorPhrase?
    package internal(set) var suggestionPhrase: ErrorPhrase?

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
