/// How many connections the server takes, and what the others get (A46, A48).
public struct ConnectionLimit: Sendable, Hashable {
    /// What a connection beyond the limit gets.
    public enum Excess: Sendable, Hashable {
        /// It is accepted and waits until another one is closed.
        case wait
        /// It is accepted and nothing is ever said.
        case hang
        /// It is accepted and closed.
        case close
        /// It is accepted and reset.
        case reset
        /// The listener is closed while the limit is reached: connection refused.
        case refuse
        /// It may send requests, and each one beyond the limit of requests in process gets this status.
        case status(Int, retryAfter: String?)
    }

    /// The number that are served; for `.status` requests in process, else connections.
    public var count: Int
    /// What the others get.
    public var excess: Excess

    /// A limit.
    public init(_ count: Int, _ excess: Excess) {
        self.count = count
        self.excess = excess
    }
}

/// What an accepted connection gets before HTTP (A44).
public enum Greeting: Sendable, Hashable {
    /// As usual.
    case serve
    /// Closed at once.
    case close
    /// Reset at once.
    case reset
    /// Closed when the first bytes come: over TLS in the middle of the handshake.
    case closeAtFirstBytes
    /// Nothing is ever said.
    case silence
    /// These bytes, then closed.
    case garbage([UInt8])
}
