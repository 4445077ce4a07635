public import FerryCore
public import HTTPTypes

/// The properties of a listed download that can be changed.
public struct DownloadChange: Sendable, Hashable {
    /// The URLs of the file, the first is the source; a new one must prove that it serves the same file.
    public var sources: [DownloadURL]
    /// Headers of the request. If the origin of the first source changes, the download's former secret headers and
    /// credentials are dropped.
    public var headers: HTTPFields
    /// Maximum number of connections at a time; at least 1.
    public var maxConnections: Int
    /// Maximum bytes per second; `nil` for no limit.
    public var rateLimit: ByteCount?
    /// The networks that the download may use.
    public var network: NetworkRule
    /// A new priority puts the download last among those of that priority.
    public var priority: DownloadPriority
    /// A text to show to the user.
    public var label: String?
    /// The app's own data; at most 4 KiB of UTF-8.
    public var userInfo: [String: String]
    /// The expected digest of the file; bytes received so far are verified against a new one.
    public var checksum: Checksum?
    /// Accepts an HTML page where a file was requested; see `TrustRules.acceptsHTML`.
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

    /// The request with this change; secrets given for one origin are not sent to another.
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

    /// Whether a running download must be stopped and started again for this change.
    func needsNewRun(from request: DownloadRequest) -> Bool {
        sources != request.sources || headers != request.headers || checksum != request.checksum
            || network.allowsPrivate != request.network.allowsPrivate
            || acceptsHTML != request.trust.acceptsHTML
    }
}
