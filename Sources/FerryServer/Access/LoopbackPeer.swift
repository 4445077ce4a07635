/// The user that owns the other end of a loopback connection.
package enum LoopbackPeer: Sendable, Hashable {
    /// An open socket of this user.
    case user(UInt32)
    /// No open socket has that end: it was closed, or belongs to another network namespace.
    case absent
    /// The system does not report socket owners.
    case unknowable

    /// Whether the connection is served: yes for this user, and for root, which can read this user's token anyway.
    /// Without a report of the system the token alone decides; a closed peer expects no response.
    package func isAdmitted(by user: UInt32) -> Bool {
        switch self {
        case .user(let peer): peer == user || peer == 0
        case .absent: false
        case .unknowable: true
        }
    }
}
