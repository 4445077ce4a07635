/// The cause that limits the speed of a download, with the measurements that show it.
public struct Bottleneck: Sendable, Hashable, Codable {
    public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
        /// A rate limit of the user: ``Bottleneck/bytesPerSecond``.
        case rateLimit
        /// Other downloads, which use all ``Bottleneck/connections`` that are permitted to the host.
        case otherDownloads
        /// The comparison of samples of the partial content with the server's bytes, before more is fetched.
        case comparison
        /// The server, which does not support ranges: ``Bottleneck/share`` of the partial content has been sent again.
        case repetition
        /// The disk, which writes ``Bottleneck/bytesPerSecond``.
        case disk
        /// The processor of this machine: Ferry uses ``Bottleneck/share`` of a core.
        case processor
        /// The server, which sends the first byte of a response after ``Bottleneck/seconds``.
        case latency
        /// The server, which refuses more than ``Bottleneck/connections``.
        case refusals
        /// The server, which sends ``Bottleneck/bytesPerSecond`` on each of ``Bottleneck/connections``.
        case perConnection
        /// The link, on which packets queue: it carries ``Bottleneck/bytesPerSecond``.
        case line
        /// The link or the server: ``Bottleneck/bytesPerSecond``, regardless of the number of connections.
        case path
        /// Packet loss: an estimated ``Bottleneck/share`` of all packets.
        case loss
        /// The server, which has ``Bottleneck/windowBytes`` in flight on a connection, in each round trip of
        /// ``Bottleneck/seconds``.
        case sendWindow
        /// The receive window of this machine: ``Bottleneck/windowBytes`` in each round trip of ``Bottleneck/seconds``.
        case receiveWindow
    }

    public var cause: Cause
    public var bytesPerSecond: Double?
    public var connections: Int?
    /// A fraction of 1; above 1 if several cores are used.
    public var share: Double?
    public var seconds: Double?
    public var windowBytes: ByteCount?

    /// Drops numbers that are not finite.
    package init(
        _ cause: Cause, bytesPerSecond: Double? = nil, connections: Int? = nil, share: Double? = nil,
        seconds: Double? = nil, windowBytes: ByteCount? = nil
    ) {
        self.cause = cause
        self.bytesPerSecond = bytesPerSecond.flatMap { $0.isFinite ? $0.rounded() : nil }
        self.connections = connections
        self.share = share.flatMap { $0.isFinite ? $0 : nil }
        self.seconds = seconds.flatMap { $0.isFinite ? $0 : nil }
        self.windowBytes = windowBytes
    }

    /// Whether the cause differs from the earlier one, or a number has doubled or halved since.
    package func differs(from earlier: Bottleneck) -> Bool {
        let numbers = [
            (bytesPerSecond, earlier.bytesPerSecond), (share, earlier.share), (seconds, earlier.seconds),
            (connections.map(Double.init), earlier.connections.map(Double.init)),
        ]
        return cause != earlier.cause
            || numbers.contains { new, old in (new ?? 0) >= 2 * (old ?? 0) + 1e-9 || (old ?? 0) >= 2 * (new ?? 0) + 1e-9
            }
    }
}
