/// What the server has seen and sent so far.
public struct Traffic: Sendable {
    /// One request and what became of it.
    public struct Request: Sendable {
        /// 0 for the first request of the server.
        public var number: Int
        /// 0 for the first accepted connection.
        public var connection: Int
        /// As it came.
        public var head: RequestHead
        /// The status that was sent; 0: bytes that are no HTTP.
        public var status: Int
        /// Bytes of content that the kernel took.
        public var bodyBytes: Int64 = 0
        /// Whether the whole answer was sent as planned; false while it is under way, and when the client left.
        public var isFinished = false

        /// The path without the query.
        public var path: String { head.path }
        /// The Range field.
        public var range: String? { head["Range"] }
        /// The If-Range field.
        public var ifRange: String? { head["If-Range"] }
    }

    /// Every request, in the order of arrival (the first 100,000).
    public var requests: [Request] = []
    /// How many requests came.
    public var requestCount = 0
    /// Bytes of content that the kernel took, in all.
    public var bodyBytes: Int64 = 0
    /// The same per path (without the query).
    public var bodyBytesByPath: [String: Int64] = [:]
    /// Connections accepted, served or not.
    public var acceptedConnections = 0
    /// Connections open now.
    public var openConnections = 0
    /// The most that were open at once.
    public var peakConnections = 0
    /// Requests being answered now.
    public var activeRequests = 0
    /// The most that were answered at once.
    public var peakRequests = 0

    /// The requests for a path.
    public func requests(for path: String) -> [Request] { requests.filter { $0.path == path } }

    static let recordLimit = 100_000
}
