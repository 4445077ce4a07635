/// The number of connections that the server accepts, and its reaction to further ones (A46, A48).
public struct ConnectionLimit: Sendable, Hashable {
    /// The reaction to a connection beyond the limit.
    public enum Excess: Sendable, Hashable {
        /// Accepted, then waits until another one closes.
        case wait
        /// Accepted without any response.
        case hang
        /// Accepted and closed.
        case close
        /// Accepted and reset.
        case reset
        /// The listener is closed while the limit is reached: connection refused.
        case refuse
        /// Accepted, but requests beyond the limit of active requests get this status.
        case status(Int, retryAfter: String?)
        /// Requests beyond the limit of active requests get a 200 with this body of this type, without a validator.
        case document(type: String, text: String)
        /// Requests beyond the limit of active requests get a 416 with the length 0.
        case unsatisfied

        /// Whether active requests are counted, not connections.
        var countsRequests: Bool {
            switch self {
            case .status, .document, .unsatisfied: true
            case .wait, .hang, .close, .reset, .refuse: false
            }
        }
    }

    /// The maximum number of active requests if `excess` counts requests, otherwise of connections.
    public var count: Int
    /// The reaction to further connections or requests.
    public var excess: Excess

    /// Creates a limit.
    public init(_ count: Int, _ excess: Excess) {
        self.count = count
        self.excess = excess
    }
}

/// The reaction to an accepted connection before HTTP (A44).
public enum Greeting: Sendable, Hashable {
    /// Served normally.
    case serve
    /// Closed at once.
    case close
    /// Reset at once.
    case reset
    /// Closed when the first bytes arrive: over TLS during the handshake.
    case closeAtFirstBytes
    /// No response at all.
    case silence
    /// These bytes, then closed.
    case garbage([UInt8])
}
