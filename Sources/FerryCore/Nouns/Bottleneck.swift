/// What limits the speed of a download, with the numbers that show it.
public struct Bottleneck: Sendable, Hashable, Codable {
    public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
        /// A rate limit of the user: ``Bottleneck/bytesPerSecond``.
        case rateLimit
        /// Other downloads, which have all ``Bottleneck/connections`` that a host may get.
        case otherDownloads
        /// Samples of what is here, which are compared with the server's bytes before more is fetched.
        case comparison
        /// The server, which sends no ranges: ``Bottleneck/share`` of the bytes that are here has been sent again.
        case repetition
        /// The disk, which stores ``Bottleneck/bytesPerSecond``.
        case disk
        /// The processor of this machine: Ferry uses ``Bottleneck/share`` of a core.
        case processor
        /// The server, which sends the first byte of a response after ``Bottleneck/seconds``.
        case latency
        /// The server, which refuses more than ``Bottleneck/connections``.
        case refusals
        /// The server, which sends ``Bottleneck/bytesPerSecond`` on each of ``Bottleneck/connections``.
        case perConnection
        /// The line, on which packets wait: it carries ``Bottleneck/bytesPerSecond``.
        case line
        /// The line or the server: ``Bottleneck/bytesPerSecond``, regardless of the number of connections.
        case path
        /// Lost packets, an estimated ``Bottleneck/share`` of all.
        case loss
        /// The server, which has ``Bottleneck/windowBytes`` in flight on a connection, in each round trip of
        /// ``Bottleneck/seconds``.
        case sendWindow
        /// The receive window of this machine, likewise.
        case receiveWindow
    }

    public var cause: Cause
    public var bytesPerSecond: Double?
    public var connections: Int?
    /// A fraction, usually of 1; several busy cores are more.
    public var share: Double?
    public var seconds: Double?
    public var windowBytes: ByteCount?

    /// Numbers that are not finite are left out.
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

    /// Whether another cause is at work than in an earlier one, or a number has doubled or halved since.
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
