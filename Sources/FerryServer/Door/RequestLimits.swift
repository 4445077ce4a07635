package import NIOCore

/// How much a connection may hold before it is known, and how long a request may take to come in.
package struct RequestLimits: Sendable, Hashable {
    /// The time from connecting, or from the end of an answer, to the end of the next head; on a connection over TCP that has
    /// shown no token. It does not begin anew with each byte.
    package var unknownHead: TimeAmount = .seconds(15)
    /// The same on a connection that has, or is of the Unix socket.
    package var knownHead: TimeAmount = .seconds(75)
    /// The time from the end of a head to the end of its body.
    package var body: TimeAmount = .seconds(30)
    /// The time that a client gets to read an answer that came before the end of its body.
    package var linger: TimeAmount = .seconds(2)
    /// The most connections over TCP that have shown no token; a further one closes the oldest.
    package var mostUnknown = 32
    /// The most bytes of all bodies together that are held for clients over TCP, and as many again for those of the Unix
    /// socket, beyond the first ``freeBytes`` of each.
    package var bodyBudget = 32 << 20
    /// The bytes of each body that do not count against the budget: what is small is always served.
    package static let freeBytes = 4096

    package init() {}
}
