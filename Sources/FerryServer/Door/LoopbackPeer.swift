/// The user whose process has the other end of a connection over loopback.
package enum LoopbackPeer: Sendable, Hashable {
    /// A socket that is open.
    case user(UInt32)
    /// No open socket has that end: it is closed by now, or is not of this network namespace.
    case absent
    /// The system does not tell such things.
    case unknowable

    /// Whether the connection is served: of this user, and of root, which can read this user's token anyway. Where the
    /// system does not tell, the token decides alone; where it tells and nobody is there, nobody waits for an answer.
    package func isAdmitted(by user: UInt32) -> Bool {
        switch self {
        case .user(let peer): peer == user || peer == 0
        case .absent: false
        case .unknowable: true
        }
    }
}
