public import HTTPTypes

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.Date
#else
    public import struct Foundation.Date
#endif

/// The rule for a final name that is already in use.
public enum ConflictRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// Use `name (1).ext`, `name (2).ext`, … The default.
    case rename
    /// Replace the existing file once the new one is complete.
    case overwrite
    /// Fail with the code `conflict`.
    case fail
    /// Keep the existing file and fetch nothing.
    case skip
}

/// A user name and password for a server.
public struct Credentials: Sendable, Hashable {
    public var user: String
    public var password: String
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    // `String` equality treats canonically equivalent texts as equal; a server does not.
    public static func == (lhs: Credentials, rhs: Credentials) -> Bool {
        lhs.user.hasSameBytes(as: rhs.user) && lhs.password.hasSameBytes(as: rhs.password)
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `credentials`: both parts are secret, and printed values end up in logs.
    public var description: String { "credentials" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A request to download one file, from one or more URLs, to one destination.
public struct DownloadRequest: Sendable, Hashable {
    /// The maximum number of URLs of one download.
    public static let mostSources = 100
    /// The largest value of ``maxRetries``, in effect no limit.
    public static let mostRetries = 1_000_000_000

    /// The destination of a download.
    public enum Destination: Sendable, Hashable {
        /// A file path, absolute or relative to the working directory.
        case file(String)
        /// The path of a directory; `name` determines the file's name in it.
        case directory(String, name: NameRule = .suggested)
        /// The existing part file or journal at this path, to be resumed.
        case part(String)
        /// This file descriptor, for example standard output: written in order and left open, without a part file or a
        /// journal. Only for an `.ephemeral` manager: one with a stored list, or in the daemon, throws `invalidRequest`.
        case stream(Int32)
    }

    /// The source of a file's name.
    public enum NameRule: Sendable, Hashable {
        /// The name in Content-Disposition, otherwise the name in the URL, sanitized.
        case suggested
        /// This name; the conflict rule still applies.
        case exact(String)
    }

    /// The URLs of the file: first the source, then mirrors; at most ``mostSources``. Empty only for `.part`.
    public var sources: [DownloadURL] {
        get { values.sources }
        set { values.sources = newValue }
    }
    /// The destination of the file.
    public var destination: Destination {
        get { values.destination }
        set { values.destination = newValue }
    }
    /// The rule for a final name that is in use. Default ``ConflictRule/rename``.
    public var onConflict: ConflictRule {
        get { values.onConflict }
        set { values.onConflict = newValue }
    }
    /// Request headers. Secret ones (all except Accept, Accept-Language, User-Agent and Referer) are sent only to the
    /// origin of the first of `sources`. The others are sent to the origin of each source. None is sent to another
    /// origin after a redirect.
    public var headers: HTTPFields {
        get { values.headers }
        set { values.headers = newValue }
    }
    /// Credentials for the origin of the first of `sources`. Credentials in a URL take precedence at that URL's origin.
    public var credentials: Credentials? {
        get { values.credentials }
        set { values.credentials = newValue }
    }
    /// The origin that receives ``credentials`` and secret headers in place of the origin of the first source. Required when
    /// there are secrets but no `sources`: URLs read from a journal are not trusted with secrets. Default `nil`.
    public var secretsOrigin: Origin? {
        get { values.secretsOrigin }
        set { values.secretsOrigin = newValue }
    }
    /// The expected digest of the file; `nil` to use the one in the journal of an earlier run, if there is one.
    public var checksum: Checksum? {
        get { values.checksum }
        set { values.checksum = newValue }
    }
    /// Whether to drop the checksum of an earlier run: without ``checksum``, the file is not verified, and a complete part file
    /// that did not match is accepted as it is. Default false. Changing ``checksum`` to `nil` in a listed download sets this
    /// property.
    public var ignoresEarlierChecksum: Bool {
        get { values.ignoresEarlierChecksum }
        set { values.ignoresEarlierChecksum = newValue }
    }
    /// The URL of a list of digests (in the format of `sha256sum`), in which the file's name is looked up.
    public var checksumList: DownloadURL? {
        get { values.checksumList }
        set { values.checksumList = newValue }
    }
    /// The digests of the file's pieces, from a Metalink document. If the file does not match ``checksum``, only damaged pieces
    /// are fetched again; without ``checksum``, the digests of the pieces prove that the file is intact. A stream is not
    /// compared with them. `nil` for none.
    public var pieces: PieceDigests? {
        get { values.pieces }
        set { values.pieces = newValue }
    }
    /// The maximum number of simultaneous connections, 1 or more; more than 1000 count as 1000. Default 16.
    public var maxConnections: Int {
        get { values.maxConnections }
        set { values.maxConnections = newValue }
    }
    /// The rate limit in bytes per second, at least 1; `nil` for no limit.
    public var rateLimit: ByteCount? {
        get { values.rateLimit }
        set { values.rateLimit = newValue }
    }
    /// The maximum size of the file in bytes, at least 1; `nil` for no limit.
    public var maxBytes: ByteCount? {
        get { values.maxBytes }
        set { values.maxBytes = newValue }
    }
    /// The required size of the file in bytes: a source that declares another size is not used. `nil` for any size.
    public var expectedBytes: ByteCount? {
        get { values.expectedBytes }
        set { values.expectedBytes = newValue }
    }
    /// The maximum number of redirects that are followed in a row, 0 to 1000. Default 20.
    public var maxRedirects: Int {
        get { values.maxRedirects }
        set { values.maxRedirects = newValue }
    }
    /// The rules for unproven data.
    public var trust: TrustRules {
        get { values.trust }
        set { values.trust = newValue }
    }
    /// The connection settings in which the download differs from its manager.
    public var connection: ConnectionRules {
        get { values.connection }
        set { values.connection = newValue }
    }
    /// The interval in which a connection must receive at least 1 KB; otherwise, it is closed. Also the time limit for a
    /// response head. `nil` for the manager's setting.
    public var stallTimeout: Duration? {
        get { values.stallTimeout }
        set { values.stallTimeout = newValue }
    }
    /// The minimum speed of a connection in bytes per second, on average over each ``stallTimeout``; a slower
    /// connection is closed and replaced. Default `nil`: 1 KB in that interval is enough.
    public var minSpeed: ByteCount? {
        get { values.minSpeed }
        set { values.minSpeed = newValue }
    }
    /// The maximum number of consecutive retries without progress, 0 to ``mostRetries``; with 0, the first failure of a connection
    /// ends the download. `nil` for the manager's setting.
    public var maxRetries: Int? {
        get { values.maxRetries }
        set { values.maxRetries = newValue }
    }
    /// The free disk space to preserve, in bytes; `nil` for the manager's setting.
    public var minFreeBytes: ByteCount? {
        get { values.minFreeBytes }
        set { values.minFreeBytes = newValue }
    }
    /// Whether data is synced to the disk, so that a power failure does not lose data that the journal claims. Default
    /// true.
    public var syncsToDisk: Bool {
        get { values.syncsToDisk }
        set { values.syncsToDisk = newValue }
    }
    /// Whether the finished file gets the modification time that the server sends. Default true.
    public var usesServerTime: Bool {
        get { values.usesServerTime }
        set { values.usesServerTime = newValue }
    }
    /// The object that the finished file is uploaded to. A URL that ends with `/` is a prefix for the object's key, before the
    /// file's name. The file then stays at ``destination`` only until the upload is complete. Default `nil`: the file is not
    /// uploaded.
    public var uploadTo: DownloadURL? {
        get { values.uploadTo }
        set { values.uploadTo = newValue }
    }
    /// Whether the SHA-256 digests of the file and of its pieces are computed during the transfer and stored with the
    /// file, so that damage can be found and repaired later. Default false.
    public var recordsDigests: Bool {
        get { values.recordsDigests }
        set { values.recordsDigests = newValue }
    }

    /// The identifier of the download, at most 256 bytes of UTF-8; `nil` to have one generated.
    public var id: DownloadID? {
        get { values.id }
        set { values.id = newValue }
    }
    /// A human-readable label, shown in lists.
    public var label: String? {
        get { values.label }
        set { values.label = newValue }
    }
    /// Application data, stored in the catalogue and the journal; at most 4 KiB of UTF-8, including keys and values.
    public var userInfo: [String: String] {
        get { values.userInfo }
        set { values.userInfo = newValue }
    }
    /// The queue priority. Default ``DownloadPriority/normal``.
    public var priority: DownloadPriority {
        get { values.priority }
        set { values.priority = newValue }
    }
    /// Whether the download is added paused. Default false.
    public var startsPaused: Bool {
        get { values.startsPaused }
        set { values.startsPaused = newValue }
    }
    /// The earliest start time, in the years 0 to 9999; `nil` to start at once.
    public var notBefore: Date? {
        get { values.notBefore }
        set { values.notBefore = newValue }
    }
    /// The networks that the download may use.
    public var network: NetworkRule {
        get { values.network }
        set { values.network = newValue }
    }
    /// The rule for a listed download with the same URLs and destination. Default `.existing`.
    public var onDuplicate: DuplicateRule {
        get { values.onDuplicate }
        set { values.onDuplicate = newValue }
    }
    /// The session that owns the download, in a list that several sessions share; `nil` for the list's own session.
    package var session: String? {
        get { values.session }
        set { values.session = newValue }
    }
    /// An absolute directory that confines the download's files: every file is opened below it, without following
    /// symbolic links there. `nil` for none.
    package var root: String? {
        get { values.root }
        set { values.root = newValue }
    }
    /// The location for keeping the file that the finished one replaces; `nil` to keep no copy.
    package var keptCopy: KeptCopy? {
        get { values.keptCopy }
        set { values.keptCopy = newValue }
    }
    /// The object at ``uploadTo``, if it is known. It then determines what is replaced, instead of the conflict rule.
    /// `nil` if nothing is known about the object.
    package var knownObject: KnownObject? {
        get { values.knownObject }
        set { values.knownObject = newValue }
    }
    /// The validators that the source has sent with the existing file or object of a set, for a conditional request. `nil` to fetch
    /// the file without one.
    package var knownIdentity: FileIdentity? {
        get { values.knownIdentity }
        set { values.knownIdentity = newValue }
    }

    /// Shared by copies: requests are large and are passed through many lists.
    @CopyOnWrite private var values: Values

    public init(sources: [DownloadURL], destination: Destination) {
        _values = CopyOnWrite(wrappedValue: Values(sources: sources, destination: destination))
    }

    private struct Values: Sendable, Hashable {
        var sources: [DownloadURL]
        var destination: Destination
        var onConflict: ConflictRule = .rename
        var headers: HTTPFields = HTTPFields()
        var credentials: Credentials?
        var secretsOrigin: Origin?
        var checksum: Checksum?
        var ignoresEarlierChecksum: Bool = false
        var checksumList: DownloadURL?
        var pieces: PieceDigests?
        var maxConnections: Int = 16
        var rateLimit: ByteCount?
        var maxBytes: ByteCount?
        var expectedBytes: ByteCount?
        var maxRedirects: Int = 20
        var trust: TrustRules = TrustRules()
        var connection: ConnectionRules = ConnectionRules()
        var stallTimeout: Duration?
        var minSpeed: ByteCount?
        var maxRetries: Int?
        var minFreeBytes: ByteCount?
        var syncsToDisk: Bool = true
        var usesServerTime: Bool = true
        var uploadTo: DownloadURL?
        var recordsDigests: Bool = false
        var id: DownloadID?
        var label: String?
        var userInfo: [String: String] = [:]
        var priority: DownloadPriority = .normal
        var startsPaused: Bool = false
        var notBefore: Date?
        var network: NetworkRule = NetworkRule()
        var onDuplicate: DuplicateRule = .existing
        var session: String?
        var root: String?
        var keptCopy: KeptCopy?
        var knownObject: KnownObject?
        var knownIdentity: FileIdentity?
    }

    /// Whether the complete file is verified with a digest.
    package var hasDigest: Bool {
        if checksum != nil || checksumList != nil { return true }
        if case .stream = destination { return false }
        return pieces != nil
    }
}

// MARK: Members

extension DownloadRequest {
    /// A request with all defaults. The recipient of a request replaces an empty directory with its own default.
    package static let plain = DownloadRequest(sources: [], destination: .directory(""))

    /// The manager's default values of ``stallTimeout`` and ``maxRetries``, for requests that do not set them.
    package static let standardStallTimeout: Duration = .seconds(60)
    package static let standardMaxRetries = 10

    /// The time limits of a request, in seconds: up to three years.
    private static let times = 0.001...100_000_000

    package enum CodingKeys: String, CodingKey, CaseIterable, Sendable {
        case id, urls, directory, name, path, part, onConflict, headers, user, password, secretsOrigin, checksum
        case checksumList, maxConnections, rateLimit, maxBytes, maxRedirects, priority, startsPaused, notBefore, label
        case userInfo, allowsMetered, allowsConstrained, allowsPrivate, onDuplicate, strict, allowsUnprovenParts
        case resumesUnproven, failsOnChange, allowsDowngrade, acceptsHTML, syncsToDisk, usesServerTime
        case proxy, certificates, insecure, addressFamily, connectTimeout, userAgent, cookies
        case stallTimeout, minSpeed, maxRetries, minFreeBytes, expectedBytes, pieces, recordsDigests, uploadTo
    }

    /// The properties with a member of their own: the member's name, the allowed numbers, and whether the property can be
    /// changed later. Options, the fields of the page and the OpenAPI document take their bounds and defaults from this list,
    /// or are compared with it. A new property of a request requires one more line here.
    package static let properties: [Property] = [
        Property(.id, \.id), Property(.urls, \.wholeSources, changes: .inNewRun),
        Property(.onConflict, \.onConflict, changes: .inNewRun),
        Property(.headers, \.headerList, changes: .inNewRun), Property(.secretsOrigin, \.secretsOrigin),
        Property(.checksum, \.checksumWord, changes: .inNewRun), Property(.checksumList, \.wholeChecksumList),
        Property(.maxConnections, \.maxConnections, in: .positive, changes: .atOnce),
        Property(.rateLimit, \.rateLimit, in: .positive, changes: .atOnce),
        Property(.maxBytes, \.maxBytes, in: .positive, changes: .inNewRun),
        Property(.expectedBytes, \.expectedBytes, in: .sizes), Property(.pieces, \.pieces),
        Property(.maxRedirects, \.maxRedirects, in: .whole(0...1000)),
        Property(.priority, \.priority, changes: .atOnce),
        Property(.startsPaused, \.startsPaused), Property(.notBefore, \.notBefore, changes: .inNewRun),
        Property(.label, \.label, changes: .atOnce), Property(.userInfo, \.userInfo, changes: .atOnce),
        Property(.allowsMetered, \.network.allowsMetered, changes: .atOnce),
        Property(.allowsConstrained, \.network.allowsConstrained, changes: .atOnce),
        Property(.allowsPrivate, \.network.allowsPrivate, changes: .inNewRun),
        Property(.onDuplicate, \.onDuplicate),
        Property(.strict, \.trust.strict), Property(.allowsUnprovenParts, \.trust.allowsUnprovenParts),
        Property(.resumesUnproven, \.trust.resumesUnproven, changes: .inNewRun),
        Property(.failsOnChange, \.trust.failsOnChange),
        Property(.allowsDowngrade, \.trust.allowsDowngrade, changes: .inNewRun),
        Property(.acceptsHTML, \.trust.acceptsHTML, changes: .inNewRun), Property(.syncsToDisk, \.syncsToDisk),
        Property(.usesServerTime, \.usesServerTime), Property(.recordsDigests, \.recordsDigests),
        Property(.uploadTo, \.uploadTo),
        Property(.proxy, \.connection.proxy, changes: .inNewRun),
        Property(.certificates, \.connection.certificates, changes: .inNewRun),
        Property(.insecure, \.connection.insecure, changes: .inNewRun),
        Property(.addressFamily, \.connection.addressFamily, changes: .inNewRun),
        Property(.connectTimeout, \.connectSeconds, in: .seconds(times), changes: .inNewRun),
        Property(.userAgent, \.connection.userAgent, changes: .inNewRun),
        Property(.cookies, \.connection.cookies, changes: .inNewRun),
        Property(.stallTimeout, \.stallSeconds, in: .seconds(times), changes: .inNewRun),
        Property(.minSpeed, \.minSpeed, in: .sizes, changes: .inNewRun),
        Property(.maxRetries, \.maxRetries, in: .whole(0...ByteCount(mostRetries)), changes: .inNewRun),
        Property(.minFreeBytes, \.minFreeBytes, in: .sizes, changes: .inNewRun),
    ]

    /// The members that determine which bytes a download fetches, and for whom.
    package static let contentMembers: Set<CodingKeys> = [
        .urls, .onConflict, .headers, .checksum, .userInfo, .resumesUnproven, .cookies, .user, .password,
    ]

    /// The members that determine which machines and certificates a download's secrets depend on.
    package static let routeMembers: Set<CodingKeys> = [.proxy, .certificates, .insecure]

    private var headerList: HeaderList {
        get { HeaderList(headers) }
        set { headers = newValue.fields }
    }
    private var connectSeconds: Double? {
        get { connection.connectTimeout?.seconds }
        set { connection.connectTimeout = newValue.map(Self.time) }
    }
    private var stallSeconds: Double? {
        get { stallTimeout?.seconds }
        set { stallTimeout = newValue.map(Self.time) }
    }
    /// The time limit, rounded to milliseconds. A value out of bounds stays out of bounds.
    private static func time(_ seconds: Double) -> Duration {
        .milliseconds(Int64((min(max(seconds, 0), 1e9) * 1000).rounded()))
    }
    private var checksumWord: ChecksumWord {
        get { ChecksumWord(checksum: checksum, ignoresEarlier: ignoresEarlierChecksum) }
        set { (checksum, ignoresEarlierChecksum) = (newValue.checksum, newValue.ignoresEarlier) }
    }
    private var wholeSources: [WholeURL] {
        get { sources.map { WholeURL(url: $0) } }
        set { sources = newValue.map(\.url) }
    }
    private var wholeChecksumList: WholeURL? {
        get { checksumList.map { WholeURL(url: $0) } }
        set { checksumList = newValue?.url }
    }
}

/// The rule for a listed download with the same URLs and destination.
public enum DuplicateRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// Returns the listed download, with the credentials, headers, checksum, sizes, limits and rules that the new request sets. If
    /// it is completed, and its file is unchanged and what the new request demands, that file is returned at once. A paused
    /// download stays paused.
    case existing
    /// Adds another download, which never uses the files of the listed one.
    case addAnother
    /// Fails with the code `duplicate`.
    case fail
}

/// The networks that a download may use; `nil` means the manager's setting.
public struct NetworkRule: Sendable, Hashable, Codable {
    /// Permits metered networks (`allowsCellularAccess`, `allowsExpensiveNetworkAccess` of URLSession).
    public var allowsMetered: Bool?
    /// Permits constrained networks (`allowsConstrainedNetworkAccess` of URLSession: Low Data Mode).
    public var allowsConstrained: Bool?
    /// If false, connections to loopback, link-local, private and metadata addresses are refused, including after
    /// redirects. True does not override a manager that forbids them (``TransferSettings/allowsPrivate``).
    public var allowsPrivate: Bool?

    public init(allowsMetered: Bool? = nil, allowsConstrained: Bool? = nil, allowsPrivate: Bool? = nil) {
        self.allowsMetered = allowsMetered
        self.allowsConstrained = allowsConstrained
        self.allowsPrivate = allowsPrivate
    }
}

/// The rules for accepting unproven data and unencrypted redirects.
public struct TrustRules: Sendable, Hashable {
    /// Accepts only the proofs `digest`, `single` and `strong`. Default false.
    public var strict = false
    /// Uses several connections without a strong validator or a digest. Default false.
    public var allowsUnprovenParts = false
    /// Resumes by comparing samples when the server sends no validator. Default false.
    public var resumesUnproven = false
    /// Fails, keeping the partial content, instead of restarting if the file on the server has changed. Without a checksum of
    /// the whole file, also fails if the file cannot be proven to be the same. Default false.
    public var failsOnChange = false
    /// Follows redirects from https to http. Default false.
    public var allowsDowngrade = false
    /// Accepts a web page where the file name or the partial content indicates another type. Default false: such a page
    /// is treated as a dead link.
    public var acceptsHTML = false

    public init() {}
}

/// Queue priority: higher priorities run first; downloads of equal priority run in queue order.
///
/// Any integer is a valid priority. The default is ``normal``.
public struct DownloadPriority: RawRepresentable, Sendable, Hashable, Comparable, Codable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The priority -1.
    public static let low = DownloadPriority(rawValue: -1)
    /// The priority 0.
    public static let normal = DownloadPriority(rawValue: 0)
    /// The priority 1.
    public static let high = DownloadPriority(rawValue: 1)

    public static func < (left: DownloadPriority, right: DownloadPriority) -> Bool { left.rawValue < right.rawValue }
}
