public import struct Foundation.Date
public import struct Foundation.URL
public import HTTPTypes

/// What to do when the final name is already taken by a file.
public enum ConflictRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// `name (1).ext`, `name (2).ext`, … the default.
    case rename
    /// Replace it, when the new one is complete.
    case overwrite
    /// An error.
    case fail
    /// Leave it and fetch nothing.
    case skip
}

/// Who asks.
public struct Credentials: Sendable, Hashable {
    public var user: String
    public var password: String
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always the same: both parts are secret, and a value that is printed ends in a log.
    public var description: String { "credentials" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a user asks for: one file, from one or more URLs, to one place.
public struct DownloadRequest: Sendable, Hashable {
    /// The most URLs of one download.
    public static let mostSources = 100

    /// Where the file goes.
    public enum Destination: Sendable, Hashable {
        /// This path, absolute or relative to the working directory.
        case file(String)
        /// Into this directory, under the name that the server or the URL gives, or exactly this one.
        case directory(String, name: NameRule = .suggested)
        /// Goes on with what this part file or journal holds.
        case part(String)
        /// In order to this file descriptor, which stays open: standard output. No part file, no journal.
        case stream(Int32)

        /// The file of this file URL.
        public static func file(_ url: URL) -> Destination { .file(url.path) }

        /// Into the directory of this file URL.
        public static func directory(_ url: URL, name: NameRule = .suggested) -> Destination {
            .directory(url.path, name: name)
        }
    }

    /// Where the name of a file in a directory comes from.
    public enum NameRule: Sendable, Hashable {
        /// Content-Disposition, else the URL; made safe.
        case suggested
        /// This one; a conflict rule still applies.
        case exact(String)
    }

    /// The URLs of the file: the first is the source, further ones are mirrors; at most ``mostSources``. Empty only for
    /// `.part`.
    public var sources: [DownloadURL]
    /// Where the file goes.
    public var destination: Destination
    /// What to do when the final name is taken. Default ``ConflictRule/rename``.
    public var onConflict: ConflictRule = .rename
    /// Headers of the user. Secret ones (all but Accept, Accept-Language, User-Agent and Referer) are sent to the origin of
    /// the first of `sources` only, the others to the origin of each; none goes where redirects lead elsewhere.
    public var headers = HTTPFields()
    /// Credentials for the origin of the first of `sources`; those inside a URL take precedence at the origin of that URL.
    public var credentials: Credentials?
    /// Whom ``credentials`` and secret headers are for instead. Needed where there are secrets and no `sources`: the URLs in
    /// a journal are nobody's word. Default `nil`.
    public var secretsOrigin: Origin?
    /// The digest that the file must have.
    public var checksum: Checksum?
    /// A file of digests (as `sha256sum` writes them) in which the name of this file is looked up.
    public var checksumList: DownloadURL?
    /// The most connections at a time; 1 or more. Default 16.
    public var maxConnections = 16
    /// Bytes per second at most; `nil` for no limit.
    public var rateLimit: ByteCount?
    /// The largest file to accept.
    public var maxBytes: ByteCount?
    /// Rules about proof.
    public var trust = TrustRules()
    /// Sync data to the disk, so that a power cut loses nothing that was claimed. Default true.
    public var syncsToDisk = true

    /// The name of the download inside Ferry; `nil` to have one made.
    public var id: DownloadID?
    /// A text for people, shown in lists.
    public var label: String?
    /// The app's own data, kept in the catalogue and the journal; at most 4 KiB of UTF-8, keys and values together.
    public var userInfo: [String: String] = [:]
    /// Those of a higher priority run first. Default ``DownloadPriority/normal``.
    public var priority: DownloadPriority = .normal
    /// It is listed, and waits until it is resumed. Default false.
    public var startsPaused = false
    /// It does not start before this time; `nil` for at once.
    public var notBefore: Date?
    /// Which networks it may use.
    public var network = NetworkRule()
    /// What to do when a download of the same URLs to the same place is listed already. Default `.existing`.
    public var onDuplicate: DuplicateRule = .existing
    /// Who asks, where one list holds the downloads of several; `nil` for the list's own.
    package var session: String?
    /// The absolute directory that no file of the download may be outside of, whenever one is opened, and below which no
    /// symbolic link is followed; `nil` for none.
    package var root: String?

    public init(sources: [DownloadURL], destination: Destination) {
        self.sources = sources
        self.destination = destination
    }
}

/// What to do when a download of the same URLs to the same place is listed already.
public enum DuplicateRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// The one that is listed is the answer; a completed one whose file is unchanged gives its file at once.
    case existing
    /// Another one, which never uses what belongs to the first.
    case addAnother
    /// An error with the code `duplicate`.
    case fail
}

/// Which networks a download may use; `nil` follows the manager's setting.
public struct NetworkRule: Sendable, Hashable, Codable {
    /// May use networks where bytes cost money (`allowsCellularAccess`, `allowsExpensiveNetworkAccess` of URLSession).
    public var allowsMetered: Bool?
    /// May use networks that the user asked to spare (`allowsConstrainedNetworkAccess` of URLSession: Low Data Mode).
    public var allowsConstrained: Bool?
    /// With false, only hosts of the public internet are connected to: no loopback, link-local, private or metadata
    /// address, redirects included. A manager that forbids them (``TransferSettings/allowsPrivate``) forbids them to all.
    public var allowsPrivate: Bool?

    public init(allowsMetered: Bool? = nil, allowsConstrained: Bool? = nil, allowsPrivate: Bool? = nil) {
        self.allowsMetered = allowsMetered
        self.allowsConstrained = allowsConstrained
        self.allowsPrivate = allowsPrivate
    }
}

/// How much a download may take on trust.
public struct TrustRules: Sendable, Hashable, Codable {
    /// Accept only the proofs `digest`, `single` and `strong`. Default false.
    public var strict = false
    /// Several connections although there is neither a strong validator nor a digest. Default false.
    public var allowsUnprovenParts = false
    /// Go on, by samples, where the server gives no validator at all. Default false.
    public var resumesUnproven = false
    /// When the file on the server changed: fail and leave everything as it is. Default false.
    public var failsOnChange = false
    /// Follow a redirect from https to http. Default false.
    public var allowsDowngrade = false
    /// Take a web page although a name, or what is held, says that the file is none. Default false: the link is dead.
    public var acceptsHTML = false

    public init() {}

    /// What is left out has its default.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys) throws -> Bool { try object.decodeIfPresent(Bool.self, forKey: key) ?? false }
        strict = try flag(.strict)
        allowsUnprovenParts = try flag(.allowsUnprovenParts)
        resumesUnproven = try flag(.resumesUnproven)
        failsOnChange = try flag(.failsOnChange)
        allowsDowngrade = try flag(.allowsDowngrade)
        acceptsHTML = try flag(.acceptsHTML)
    }

    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(strict, forKey: .strict)
        try object.encode(allowsUnprovenParts, forKey: .allowsUnprovenParts)
        try object.encode(resumesUnproven, forKey: .resumesUnproven)
        try object.encode(failsOnChange, forKey: .failsOnChange)
        try object.encode(allowsDowngrade, forKey: .allowsDowngrade)
        if acceptsHTML { try object.encode(acceptsHTML, forKey: .acceptsHTML) }
    }

    private enum CodingKeys: String, CodingKey {
        case strict, allowsUnprovenParts, resumesUnproven, failsOnChange, allowsDowngrade, acceptsHTML
    }
}
