/// What one host, or all hosts of one domain, may be asked for; `nil` means no limit.
///
/// Limits of connections and delays are kept at every moment. Totals count from the time at which the budget was set.
public struct HostBudget: Sendable, Hashable {
    /// The maximum number of simultaneous connections, 1 or more. Each running download needs one.
    public var connections: Int?
    /// The minimum time between the starts of two requests.
    public var delay: Duration?
    /// The maximum of received bytes per second, 1 or more.
    public var bytesPerSecond: ByteCount?
    /// The total number of requests. Further ones wait until a new budget is set.
    public var requests: Int?
    /// The total number of received bytes, compared before each request: a response that has begun is read to its end.
    public var bytes: ByteCount?

    public init(
        connections: Int? = nil, delay: Duration? = nil, bytesPerSecond: ByteCount? = nil, requests: Int? = nil,
        bytes: ByteCount? = nil
    ) {
        self.connections = connections
        self.delay = delay
        self.bytesPerSecond = bytesPerSecond
        self.requests = requests
        self.bytes = bytes
    }

    /// The longest ``delay``; longer ones count as this: 1 day.
    package static let longestDelay = Duration.seconds(86_400)

    /// The budget with values in their bounds.
    package var bounded: HostBudget {
        HostBudget(
            connections: connections.map { max(1, $0) },
            delay: delay.flatMap { $0 > .zero ? min($0, Self.longestDelay) : nil },
            bytesPerSecond: bytesPerSecond.map { max(1, $0) }, requests: requests.map { max(0, $0) },
            bytes: bytes.map { max(0, $0) })
    }
}

extension HostBudget {
    var limitsBytes: Bool { bytesPerSecond != nil || bytes != nil }
}

/// The hosts that a ``HostBudget`` is for.
public enum HostScope: Sendable, Hashable {
    /// One host, by its name or address, on all ports.
    case host(String)
    /// All hosts of a registrable domain, such as `example.co.uk`: the public suffix and one label before it.
    case domain(String)

    /// The name as in ``DownloadURL/host``; `nil` if it is none.
    package var normalized: HostScope? {
        switch self {
        case .host(let name): Self.host(of: name).map { .host($0) }
        case .domain(let name): Self.host(of: name).map { .domain($0) }
        }
    }

    private static func host(of name: String) -> String? {
        guard !name.isEmpty, name.utf8.count <= 255 else { return nil }
        let text = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
        guard let url = try? DownloadURL("https://\(text)/"), url.path == "/", url.query == nil,
            url.credentials == nil, url.port == 443
        else { return nil }
        return url.host
    }
}
