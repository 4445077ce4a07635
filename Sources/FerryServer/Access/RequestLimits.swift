package import NIOCore

/// Limits on unauthenticated connections, request bodies, and the time in which a request must arrive.
package struct RequestLimits: Sendable, Hashable {
    /// The time from the connection's start, or from the end of a response, to the end of the next request head, on a
    /// TCP connection without a token. Received bytes do not restart it.
    package var unknownHead: TimeAmount = .seconds(15)
    /// The same for a TCP connection with a token, or one over the Unix socket.
    package var knownHead: TimeAmount = .seconds(75)
    /// The time from the end of a request head to the end of its body.
    package var body: TimeAmount = .seconds(30)
    /// The time a client has to read a response that was sent before the end of the request's body.
    package var linger: TimeAmount = .seconds(2)
    /// The maximum number of TCP connections without a token; a new one evicts the oldest.
    package var mostUnknown = 32
    /// The maximum number of bytes that all bodies together may hold, separately for TCP and for the Unix socket, not
    /// counting the first ``freeBytes`` of each.
    package var bodyBudget = 32 << 20
    /// The bytes of each body that do not count against the budget, so that small requests are always served.
    package static let freeBytes = 4096

    package init() {}
}
