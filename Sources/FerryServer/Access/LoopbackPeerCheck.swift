import Ferry
import NIOCore

/// Reads nothing from a loopback connection until its peer is known to be this user; closes those of other users
/// unread. Where every user of the machine may ask, all are admitted.
final class LoopbackPeerCheck: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias OutboundIn = Any

    /// The pipeline event sent when the peer is admitted, before anything is read.
    struct Admitted: Sendable {}

    private enum State { case new, asking, admitted, refused }
    private var state = State.new
    /// Whether a read was requested before the peer was known.
    private var isReadWanted = false
    private let user: UInt32?
    private let peers: LoopbackPeers

    /// - Parameter user: The user whose connections are admitted; `nil` for every user.
    init(user: UInt32?, peers: LoopbackPeers) {
        self.user = user
        self.peers = peers
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func read(context: ChannelHandlerContext) {
        switch state {
        case .new, .asking: isReadWanted = true
        case .admitted: context.read()
        case .refused: break
        }
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard state == .new else { return }
        state = .asking
        guard let user else { return admit(context) }
        guard let connection = TCPConnection(context.channel) else { return refuse(context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let peers = peers
        // Off the event loop: reading /proc/net may take milliseconds.
        context.eventLoop.makeFutureWithTask {
            await onFileThread { peers.peer(of: connection).isAdmitted(by: user) }
        }.whenComplete { result in
            let (handler, context) = bound.value
            guard case .success(true) = result else { return handler.refuse(context) }
            handler.admit(context)
        }
    }

    private func admit(_ context: ChannelHandlerContext) {
        state = .admitted
        context.pipeline.fireUserInboundEventTriggered(Admitted())
        if isReadWanted { context.read() }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        state = .refused
        context.close(promise: nil)
    }
}

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
