import FerryCore
import NIOCore
import NIOHTTP1

/// Sits between a connection's socket and AsyncHTTPClient's HTTP handlers.
///
/// Outbound it puts the exact request target in place: AsyncHTTPClient only knows URLs that went through Foundation,
/// which escapes some valid paths anew, and always asks for a path, where a proxy wants the whole URL (RFC 9112 §3.2.2).
/// It looks at the address of the other end before the first byte of a request that needs a public one.
/// Inbound it notes the first byte of an answer, so that a connection which dies before it can be told from one that
/// dies after it. And it keeps what comes although nobody has asked: so NIO empties a socket whose other end has closed,
/// and AsyncHTTPClient throws that away when the body turns out to be short (A21).
final class RequestTargetHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let hops: HTTPExchangeRegistry
    private var current: HTTPExchange?
    private var hasServed = false
    private var isAnswered = false
    /// Its other end is not for the request that came: nothing is written any more.
    private var isRefused = false
    /// Somebody has asked for the next piece. What comes after ``channelReadComplete(context:)`` and before ``read(context:)``
    /// reaches nobody unless the answer is whole.
    private var isWanted = true

    init(hops: HTTPExchangeRegistry) {
        self.hops = hops
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .head(var head) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        if let number = head.headers.first(name: HTTPExchange.fieldName).flatMap({ UInt64($0) }),
            let hop = hops.hop(number)
        {
            guard admits(hop, context.channel) else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return
            }
            hop.wentOut(onReusedConnection: hasServed)
            head.uri = hop.target
            current = hop
            isAnswered = false
        }
        head.headers.remove(name: HTTPExchange.fieldName)
        hasServed = true
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Whether a request may go out here; closes the connection when it may not.
    private func admits(_ hop: HTTPExchange, _ channel: any Channel) -> Bool {
        guard hop.needsPublicPeer else { return true }
        let peer = channel.remoteAddress?.ip
        if let peer, PrivateAddress.kind(ofPeer: peer, local: channel.localAddress?.ip) == nil { return true }
        isRefused = true
        hop.refuse(peer.map { "\($0)" } ?? "?")
        // Not at once: whoever writes is in the middle of it.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return false
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let hop = current {
            if !isAnswered {
                hop.answerBegan()
                isAnswered = true
            }
            if !isWanted { hop.leave(unwrapInboundIn(data)) }
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        isWanted = true
        context.read()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // What was asked for goes on its way now, and what came before it unasked.
        if isWanted { current?.forgetLeftover() }
        isWanted = false
        context.fireChannelReadComplete()
    }
}

extension SocketAddress {
    /// Its address without port and zone; `nil` for that of a Unix socket.
    fileprivate var ip: IPAddress? {
        guard let text = ipAddress else { return nil }
        return IPAddress(String(text.prefix { $0 != "%" }))
    }
}
