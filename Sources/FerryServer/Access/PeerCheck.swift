import FerryCore
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Admits only one user's processes to a Unix socket, and closes other connections before anything is read.
///
/// The permissions of the socket's directory already exclude other users; this check still holds if they are relaxed.
final class PeerCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    /// The maximum number of buffered reads. The credentials come from the kernel, so few reads arrive before them.
    static let mostEarly = 64

    private let user: UInt32
    /// The overflow ID, which stands for all users without an ID in this user namespace.
    private let unmapped: UInt32?
    private var isKnown = false
    private var early: [NIOAny] = []

    init(user: UInt32, unmapped: UInt32? = UserNamespace.unmapped) {
        (self.user, self.unmapped) = (user, unmapped)
    }

    /// The effective user of this process.
    static var ownUser: UInt32 { geteuid() }

    func handlerAdded(context: ChannelHandlerContext) {
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        Self.peer(of: context.channel).whenComplete { result in
            let (handler, context) = loopBound.value
            guard case .success(let peer) = result, peer == handler.user,
                peer != handler.unmapped
            else {
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
