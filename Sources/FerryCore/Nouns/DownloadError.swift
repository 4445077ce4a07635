/// The error that Ferry throws. It states what failed, on which object, and how to recover.
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
        /// The link has expired. The download can resume from another URL for the same file.
        public static let freshLink = Code(rawValue: "freshLink")
        /// The server requires credentials, or rejected the ones given.
        public static let credentials = Code(rawValue: "credentials")
        /// The file on the server is no longer the one that the download started with.
        public static let remoteChanged = Code(rawValue: "remoteChanged")
        /// The digest of the whole file is not the expected one.
        public static let checksum = Code(rawValue: "checksum")
        /// The request demands an integrity check that is not possible.
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

    /// How to recover from a failure.
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
    /// A sentence that states what failed, and on which object.
    public var message: String { didSet { if message != oldValue { phrase = nil } } }
    /// One sentence about what the user of the program `ferry` can do, with the options of its commands; `nil` if nothing can be
    /// suggested. An app shows ``recoverySuggestion(in:)``.
    public var suggestion: String? { didSet { if suggestion != oldValue { suggestionPhrase = nil } } }
    /// The underlying error, in the words of the system or of a library.
    public var underlying: String?
    /// How to recover from the failure. Default ``Recovery/permanent``.
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

/// Encoded as `{"code", "message", "suggestion"?, "underlying"?, "recovery"}`, in English. `messages` and `suggestions` contain
/// the sentences in every language and are not decoded.
///
/// Unknown codes are preserved; `recovery` is omitted when it is `permanent`. `phrase` and `suggestionPhrase` contain
/// the translatable form (``ErrorPhrase``). A phrase of another version is ignored if its key is unknown or its English
/// text differs.
extension DownloadError: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, message, suggestion, underlying, recovery, phrase, suggestionPhrase, messages, suggestions
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            Code(rawValue: try container.decode(String.self, forKey: .code)),
            try container.decode(String.self, forKey: .message),
            suggestion: try container.decodeIfPresent(String.self, forKey: .suggestion),
            underlying: try container.decodeIfPresent(String.self, forKey: .underlying),
            recovery: try container.decodeIfPresent(Recovery.self, forKey: .recovery) ?? .permanent)
        phrase = Self.phrase(in: container, forKey: .phrase, of: message)
        suggestionPhrase = Self.phrase(in: container, forKey: .suggestionPhrase, of: suggestion)
    }

    /// The phrase under `key`; `nil` if its key is unknown or its English text is no longer `text`.
    private static func phrase(
        in container: KeyedDecodingContainer<CodingKeys>, forKey key: CodingKeys, of text: String?
    ) -> ErrorPhrase? {
        let phrase = try? container.decode(ErrorPhrase.self, forKey: key)
        return phrase?.text(in: .english) == text ? phrase : nil
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(suggestion, forKey: .suggestion)
        try container.encodeIfPresent(underlying, forKey: .underlying)
        if recovery != .permanent { try container.encode(recovery, forKey: .recovery) }
        try container.encodeIfPresent(phrase, forKey: .phrase)
        try container.encodeIfPresent(suggestionPhrase, forKey: .suggestionPhrase)
        try container.encode(Translations { message(in: $0) }, forKey: .messages)
        if suggestion != nil { try container.encode(Translations { suggestion(in: $0) ?? "" }, forKey: .suggestions) }
    }
}

/// Encoded as `{"kind": …}`; `transient` may have `retryAfter`, in seconds.
extension DownloadError.Recovery: Codable {
    private enum CodingKeys: String, CodingKey { case kind, retryAfter }
    private enum Kind: String { case transient, permanent, needsUser }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decodeKind(Kind.self, of: "recovery", forKey: .kind) {
        case .transient:
            let isTold = try container.contains(.retryAfter) && !container.decodeNil(forKey: .retryAfter)
            self = .transient(retryAfter: isTold ? try container.decodeSeconds(forKey: .retryAfter) : nil)
        case .permanent: self = .permanent
        case .needsUser: self = .needsUser
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .transient(let retryAfter):
            try container.encode(Kind.transient.rawValue, forKey: .kind)
            if let retryAfter { try container.encode(seconds: retryAfter, forKey: .retryAfter) }
        case .permanent: try container.encode(Kind.permanent.rawValue, forKey: .kind)
        case .needsUser: try container.encode(Kind.needsUser.rawValue, forKey: .kind)
        }
    }
}

extension DownloadError.Code {
    /// The codes that this version produces. Newer versions may add others.
    package static let known: [DownloadError.Code] = [
        .invalidRequest, .network, .refused, .freshLink, .credentials, .remoteChanged, .checksum, .unproven, .disk,
        .diskFull, .conflict, .duplicate, .catalogue, .notResumable, .notFound, .wrongState, .certificate, .tooLarge,
        .cancelled, .shutDown, .daemonUnavailable, .internal,
    ]

    /// Returns a general sentence for this code in `language`; for an unknown code, a sentence that states that something
    /// failed.
    package func sentence(in language: Language) -> String {
        language.text(of: Self.sentences[self] ?? ("something failed", "出错了"))
    }

    static let sentences: [DownloadError.Code: Language.Texts] = [
        .invalidRequest: ("the request is invalid", "请求无效"),
        .network: ("the network failed", "网络出错"),
        .refused: ("the server's answer cannot be used", "服务器拒绝请求或响应无法使用"),
        .freshLink: ("the link no longer works", "链接已失效，需要新链接"),
        .credentials: ("the server asks for credentials", "服务器要求提供凭据"),
        .remoteChanged: ("the file on the server changed", "服务器上的文件已改变"),
        .checksum: ("the file does not match its digest", "文件校验失败"),
        .unproven: ("the required integrity check is not available", "无法取得所要求的证明"),
        .disk: ("the disk failed", "磁盘读写出错"),
        .diskFull: ("there is not enough space", "磁盘空间不足"),
        .conflict: ("the file name is already in use", "名称或下载已被占用"),
        .duplicate: ("the same download is listed already", "相同的下载已在列表中"),
        .catalogue: ("the catalogue cannot be used", "下载目录库无法使用"),
        .notResumable: ("the download cannot be resumed", "无法续传"),
        .notFound: ("there is no such download", "没有这个下载"),
        .wrongState: ("that cannot be done in this state", "当前状态下不能这样做"),
        .certificate: ("the server's certificate is not trusted", "无法验证服务器的证书"),
        .tooLarge: ("the file is larger than allowed", "文件超过允许的大小"),
        .cancelled: ("the download was cancelled", "已取消"),
        .shutDown: ("Ferry was shut down", "Ferry 已关闭"),
        .daemonUnavailable: ("the daemon cannot be reached", "无法连接后台服务"),
        .internal: ("an internal error in Ferry", "Ferry 内部错误"),
    ]
}

extension DownloadError {
    /// Creates an error with a message and suggestion that are translated into every language.
    package init(
        _ code: Code, _ phrase: ErrorPhrase, suggestion: ErrorPhrase? = nil, underlying: String? = nil,
        recovery: Recovery = .permanent
    ) {
        self.init(
            code, phrase.text(in: .english), suggestion: suggestion?.text(in: .english), underlying: underlying,
            recovery: recovery)
        self.phrase = phrase
        suggestionPhrase = suggestion
    }

    /// Creates an error with `reason` as its message, translated if the reason is a phrase.
    package init(_ code: Code, _ reason: Reason, recovery: Recovery = .permanent) {
        switch reason {
        case .words, .pattern: self.init(code, reason.description, recovery: recovery)
        case .phrase(let phrase): self.init(code, phrase, recovery: recovery)
        }
    }

    /// Returns the error with another suggestion.
    package func suggesting(_ phrase: ErrorPhrase) -> DownloadError {
        var error = self
        error.suggestion = phrase.text(in: .english)
        error.suggestionPhrase = phrase
        return error
    }

    /// Returns the message in `language`; ``message`` is the English one.
    ///
    /// A message without a translation becomes the code's general sentence followed by the English text.
    public func message(in language: Language) -> String {
        if let phrase { return phrase.text(in: language) }
        if message.isEmpty { return code.sentence(in: language) }
        return language == .english ? message : "\(code.sentence(in: language))：\(message)"
    }

    /// The message as a reason; a phrase if it has translations.
    package var reason: Reason { phrase.map { .phrase($0) } ?? .words(message) }

    /// Returns one sentence about what the user of an app can do, in `language`, or in English if it has no translation. `nil` if
    /// nothing can be suggested.
    public func recoverySuggestion(in language: Language) -> String? {
        suggestionPhrase?.textForApps(in: language) ?? suggestion
    }

    /// Returns ``suggestion`` in `language`, or in English if it has no translation.
    public func suggestion(in language: Language) -> String? {
        suggestionPhrase?.text(in: language) ?? suggestion
    }
}

/// Errors are equal when their codes, English texts and recoveries are equal; translations are not compared.
extension DownloadError {
    public static func == (left: DownloadError, right: DownloadError) -> Bool {
        left.code == right.code && left.message == right.message && left.suggestion == right.suggestion
            && left.underlying == right.underlying && left.recovery == right.recovery
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(suggestion)
        hasher.combine(underlying)
        hasher.combine(recovery)
    }
}
