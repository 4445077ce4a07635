public import FerryCore
public import HTTPTypes

/// What can be changed of a download while it is listed.
public struct DownloadChange: Sendable, Hashable {
    /// The URLs of the file, the first is the source; a new one must prove that it has the same file.
    public var sources: [DownloadURL]
    /// Headers, as those of the request. Where the first of `sources` is of another origin than before, secret ones that the
    /// download had are dropped, and its credentials.
    public var headers: HTTPFields
    /// The most connections at a time; 1 or more.
    public var maxConnections: Int
    /// Bytes per second at most; `nil` for no limit.
    public var rateLimit: ByteCount?
    /// Which networks it may use.
    public var network: NetworkRule
    /// A new one takes the last place among its equals.
    public var priority: DownloadPriority
    /// A text for people.
    public var label: String?
    /// The app's own data; at most 4 KiB of UTF-8.
    public var userInfo: [String: String]
    /// The digest that the file must have; what is held is verified against a new one.
    public var checksum: Checksum?
    /// Take a web page where a file was asked for; see ``FerryCore/TrustRules/acceptsHTML``.
    public var acceptsHTML: Bool

    init(_ request: DownloadRequest) {
        sources = request.sources
        headers = request.headers
        maxConnections = request.maxConnections
        rateLimit = request.rateLimit
        network = request.network
        priority = request.priority
        label = request.label
        userInfo = request.userInfo
        checksum = request.checksum
        acceptsHTML = request.trust.acceptsHTML
    }

    /// The request with this change; what was given for one origin does not go to another.
    func applied(to old: DownloadRequest) -> DownloadRequest {
        var request = SecretScope.change(old, sources: sources, headers: headers)
        request.maxConnections = max(1, maxConnections)
        request.rateLimit = rateLimit
        request.network = network
        request.priority = priority
        request.label = label
        request.userInfo = userInfo
        request.checksum = checksum
        request.trust.acceptsHTML = acceptsHTML
        return request
    }

    /// Whether what runs must be stopped and begun again for it.
    func needsNewRun(from request: DownloadRequest) -> Bool {
        sources != request.sources || headers != request.headers || checksum != request.checksum
            || network.allowsPrivate != request.network.allowsPrivate
            || acceptsHTML != request.trust.acceptsHTML
    }
}
