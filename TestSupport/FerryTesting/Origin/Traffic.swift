/// The requests and bytes of a server so far.
public struct Traffic: Sendable {
    /// One request and its response.
    public struct Request: Sendable {
        /// 0 for the first request of the server.
        public var number: Int
        /// 0 for the first accepted connection.
        public var connection: Int
        /// The head as received.
        public var head: RequestHead
        /// The status sent; 0 for bytes that are not HTTP.
        public var status: Int
        /// The number of content bytes accepted by the kernel.
        public var bodyBytes: Int64 = 0
        /// Whether the whole response was sent as planned; false while it is in progress, or if the client
        /// disconnected.
        public var isFinished = false

        /// The path without the query.
        public var path: String { head.path }
        /// The Range field.
        public var range: String? { head["Range"] }
        /// The If-Range field.
        public var ifRange: String? { head["If-Range"] }
    }

    /// All requests in the order of arrival (the first 100,000).
    public var requests: [Request] = []
    /// The number of requests.
    public var requestCount = 0
    /// The total number of content bytes accepted by the kernel.
    public var bodyBytes: Int64 = 0
    /// The number of content bytes for each path, without the query.
    public var bodyBytesByPath: [String: Int64] = [:]
    /// The number of accepted connections, served or not.
    public var acceptedConnections = 0
    /// The number of open connections.
    public var openConnections = 0
    /// The peak number of open connections.
    public var peakConnections = 0
    /// The number of requests being answered.
    public var activeRequests = 0
    /// The peak number of requests being answered.
    public var peakRequests = 0

    /// Returns the requests for a path.
    public func requests(for path: String) -> [Request] { requests.filter { $0.path == path } }

    static let recordLimit = 100_000
}
