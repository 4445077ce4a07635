import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Lets only processes of one user through a Unix socket; the others' connections are closed before anything is read.
///
/// The directory of the socket keeps them out already; this holds where somebody opens that.
final class PeerCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    /// More pieces than a connection brings before its peer is known: the answer comes from the kernel, not from the peer.
    static let mostEarly = 64

    private let user: UInt32
    private var isKnown = false
    private var early: [NIOAny] = []

    init(user: UInt32) { self.user = user }

    /// The user of this process.
    static var ownUser: UInt32 { geteuid() }

    func handlerAdded(context: ChannelHandlerContext) {
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        Self.peer(of: context.channel).whenComplete { result in
            let (handler, context) = loopBound.value
            guard case .success(let peer) = result, peer == handler.user else {
                context.close(promise: nil)
                return
            }
            handler.isKnown = true
            for data in handler.early { context.fireChannelRead(data) }
            if !handler.early.isEmpty { context.fireChannelReadComplete() }
            handler.early = []
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isKnown { return context.fireChannelRead(data) }
        guard early.count < Self.mostEarly else { return context.close(promise: nil) }
        early.append(data)
    }
}
