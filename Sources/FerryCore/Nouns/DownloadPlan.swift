/// The expected course of a download, determined with one request and without writing anything.
public struct DownloadPlan: Sendable, Hashable, Codable {
    /// How well the download could resume after an interruption.
    public enum Resumability: String, Sendable, Hashable, Codable {
        /// A validator or digest proves that the file is the same.
        case proven
        /// Samples of the partial content would be compared.
        case sampled
        /// The download would restart at zero.
        case no
    }
    /// Strength of a validator (RFC 9110 §8.8.1).
    public enum ValidatorStrength: String, Sendable, Hashable, Codable { case strong, weak, none }

    /// The name that the file would get.
    public var name: String
    /// The URL of the final response after redirects, its query shown as `?…`.
    public var redactedURL: String
    /// The URLs that redirects led to, their queries shown as `?…`; the last one is ``redactedURL``.
    public var redactedRedirects: [String]
    /// The path of an existing file with the wanted name; `nil` if there is none.
    public var existingPath: String?
    /// Whether the existing file is as large as the server's file. It would then be compared, and kept if its content is the
    /// same.
    public var mayBeComplete: Bool
    /// The size in bytes; `nil` when the server does not declare it.
    public var totalBytes: ByteCount?
    /// Whether the server answered a range request with that range.
    public var acceptsRanges: Bool
    /// ETag or Last-Modified, as sent.
    public var validator: String?
    public var validatorStrength: ValidatorStrength
    /// Digests that the server declares for the whole file, strongest first.
    public var digests: [Checksum]
    public var contentType: String?
    /// Free space at the destination in bytes; `nil` when unknown.
    public var freeBytes: ByteCount?
    public var resumability: Resumability
    /// The reason for ``resumability``, in one sentence.
    public var reason: String
    /// The usable bytes of partial content from an earlier run; `nil` if there are none.
    public var heldBytes: ByteCount?
    /// The maximum number of simultaneous connections.
    public var maxConnections: Int

    private enum CodingKeys: String, CodingKey {
        case redactedURL = "url"
        case redactedRedirects = "redirects"
        case name, existingPath, mayBeComplete, totalBytes, acceptsRanges, validator, validatorStrength, digests
        case contentType, freeBytes, resumability, reason, heldBytes, maxConnections
    }

    /// Creates a plan, for previews and tests.
    public init(
        name: String, redactedURL: String, redactedRedirects: [String] = [], existingPath: String? = nil,
        mayBeComplete: Bool = false, totalBytes: ByteCount? = nil, acceptsRanges: Bool = false,
        validator: String? = nil, validatorStrength: ValidatorStrength = .none, digests: [Checksum] = [],
        contentType: String? = nil, freeBytes: ByteCount? = nil, resumability: Resumability = .no,
        reason: String = "", heldBytes: ByteCount? = nil, maxConnections: Int = 1
    ) {
        self.name = name
        self.redactedURL = redactedURL
        self.redactedRedirects = redactedRedirects
        self.existingPath = existingPath
        self.mayBeComplete = mayBeComplete
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
