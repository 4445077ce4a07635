/// The limits for requests to one host, or to all hosts of one domain; `nil` means no limit.
///
/// The limits of connections, delay and speed apply at all times. Totals count from the time at which the budget was
/// set.
public struct HostBudget: Sendable, Hashable {
    /// The maximum number of simultaneous connections, 1 or more. Each running download needs one.
    public var connections: Int?
    /// The minimum time between the starts of two requests.
    public var delay: Duration?
    /// The maximum number of received bytes per second, 1 or more.
    public var bytesPerSecond: ByteCount?
    /// The total number of requests. Further requests wait until a new budget is set.
    public var requests: Int?
    /// The total number of received bytes, checked before each request: a response that has started is read to its end.
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

    /// The longest ``delay``, 1 day; longer ones are reduced to it.
    package static let longestDelay = Duration.seconds(86_400)

    /// The budget with its values clamped to their bounds.
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

/// The hosts that a ``HostBudget`` applies to.
public enum HostScope: Sendable, Hashable {
    /// One host, by its name or address, on all ports.
    case host(String)
    /// All hosts of a registrable domain, such as `example.co.uk`: the public suffix and one label before it.
    case domain(String)

    /// The name as in ``DownloadURL/host``; `nil` if it is not a valid host.
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
