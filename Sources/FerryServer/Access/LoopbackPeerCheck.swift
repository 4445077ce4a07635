import Ferry
import FerryAPI
import NIOCore

/// The pipeline event sent when the peer of a connection is admitted, before anything is read.
public struct PeerAdmission: Sendable {
    /// The user of the peer; `nil` if the peer was not looked up, or if the system does not report its user.
    public let user: UInt32?

    fileprivate init(_ peer: LoopbackPeer? = nil) { user = if case .user(let number)? = peer { number } else { nil } }
}

/// Reads nothing from a loopback connection until its peer is known to be an admitted user. Closes connections of other users
/// unread, unless the reason is to be sent to them. Where every user of the machine may connect, all are admitted.
final class LoopbackPeerCheck: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias OutboundIn = Any

    /// The pipeline event sent when another user's connection is to receive the reason for its refusal: any request on it is
    /// answered with this problem.
    struct TurnedAway: Sendable { let problem: Problem }

    /// Returns the problem for a peer that is not admitted; `nil` closes its connection unread.
    typealias Refusal = @Sendable (LoopbackPeer) -> Problem?

    private enum State { case new, asking, reading, refused }
    private var state = State.new
    /// Whether a read was requested before the peer was known.
    private var isReadWanted = false
    private let users: AdmittedUsers
    private let peers: LoopbackPeers
    /// Whether the peer is looked up even if all users are admitted.
    private let mustKnow: Bool
    private let refusal: Refusal

    init(
        users: AdmittedUsers, peers: LoopbackPeers, mustKnow: Bool = false, refusal: @escaping Refusal = { _ in nil }
    ) {
        self.mustKnow = mustKnow
        self.users = users
        self.peers = peers
        self.refusal = refusal
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func read(context: ChannelHandlerContext) {
        switch state {
        case .new, .asking: isReadWanted = true
        case .reading: context.read()
        case .refused: break
        }
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard state == .new else { return }
        state = .asking
        guard users.needsPeers || mustKnow else { return admit(context, PeerAdmission()) }
        guard let connection = TCPConnection(context.channel) else {
            return users.needsPeers ? refuse(context) : admit(context, PeerAdmission())
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (users, peers, refusal) = (users, peers, refusal)
        // Off the event loop: reading /proc/net may take milliseconds.
        context.eventLoop.makeFutureWithTask {
            await onFileThread { () -> Verdict in
                let peer = peers.peer(of: connection)
                if users.admits(peer) { return .admitted(peer) }
                return refusal(peer).map(Verdict.turnedAway) ?? .refused
            }
        }.whenComplete { result in
            let (handler, context) = bound.value
            switch result {
            case .success(.admitted(let peer)): handler.admit(context, PeerAdmission(peer))
            case .success(.turnedAway(let problem)): handler.admit(context, TurnedAway(problem: problem))
            case .success(.refused), .failure: handler.refuse(context)
            }
        }
    }

    private enum Verdict: Sendable {
        case admitted(LoopbackPeer)
        case turnedAway(Problem)
        case refused
    }

    private func admit(_ context: ChannelHandlerContext, _ event: some Sendable) {
        state = .reading
        context.pipeline.fireUserInboundEventTriggered(event)
        if isReadWanted { context.read() }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        state = .refused
        context.close(promise: nil)
    }
}

/// The owner of the other end of a loopback connection.
package enum LoopbackPeer: Sendable, Hashable {
    /// An open socket of this user.
    case user(UInt32)
    /// No open socket at that end: it was closed, or is in another network namespace.
    case absent
    /// The system does not report socket owners.
    case unknowable
}
