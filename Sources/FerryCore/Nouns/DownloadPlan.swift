/// What a download would be, found out with one request and without writing anything.
public struct DownloadPlan: Sendable, Hashable {
    /// How well it could go on after a break.
    public enum Resumability: String, Sendable, Hashable, Codable {
        /// The server proves that it is the same file.
        case proven
        /// Samples would be compared.
        case sampled
        /// It would begin again.
        case no
    }
    /// How much a validator proves (RFC 9110 §8.8.1).
    public enum ValidatorStrength: String, Sendable, Hashable, Codable { case strong, weak, none }

    /// The name that the file would get.
    public var name: String
    /// The URL that answered, after redirects, with `?…` for its query.
    public var url: String
    /// The size; `nil` when the server does not say it.
    public var totalBytes: ByteCount?
    /// Whether the server answered a range with that range.
    public var acceptsRanges: Bool
    /// ETag or Last-Modified, as sent.
    public var validator: String?
    public var validatorStrength: ValidatorStrength
    /// Digests that the server offers for the whole, strongest first.
    public var digests: [Checksum]
    public var contentType: String?
    /// Free space where the file would go; `nil` when it is unknown.
    public var freeBytes: ByteCount?
    public var resumability: Resumability
    /// Why, in a sentence.
    public var reason: String
    /// Bytes that are held from an earlier run; `nil` when there was none.
    public var heldBytes: ByteCount?
    /// The most connections that may fetch it at a time.
    public var maxConnections: Int

    public init(
        name: String, url: String, totalBytes: ByteCount? = nil, acceptsRanges: Bool = false,
        validator: String? = nil, validatorStrength: ValidatorStrength = .none, digests: [Checksum] = [],
        contentType: String? = nil, freeBytes: ByteCount? = nil, resumability: Resumability = .no,
        reason: String = "", heldBytes: ByteCount? = nil, maxConnections: Int = 1
    ) {
        self.name = name
        self.url = url
        self.totalBytes = totalBytes
        self.acceptsRanges = acceptsRanges
        self.validator = validator
        self.validatorStrength = validatorStrength
        self.digests = digests
        self.contentType = contentType
        self.freeBytes = freeBytes
        self.resumability = resumability
        self.reason = reason
        self.heldBytes = heldBytes
        self.maxConnections = maxConnections
    }
}
