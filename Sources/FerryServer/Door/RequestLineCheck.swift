import NIOCore
import NIOHTTP1

/// Keeps the targets of requests what they are until the door has seen them: further up, a target with another host in it
/// (`GET http://evil/api/v1`) has lost that host already. Such a one becomes `*`, which leads nowhere.
///
/// And closes after the answer to a client of HTTP/1.0, which waits for the end.
final class RequestLineCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if head.uri.utf8.first != UInt8(ascii: "/") { head.uri = "*" }
        if (head.version.major, head.version.minor) < (1, 1) {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Puts a limiter and a check right behind the decoder; added itself where Hummingbird lets handlers be added.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any
        typealias InboundOut = Any

        private let limiter: RequestLimiter

        init(_ limiter: RequestLimiter) { self.limiter = limiter }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandlers([limiter, RequestLineCheck()], position: .after(decoder))
            } catch {
                // Nothing comes in unseen.
                context.close(promise: nil)
            }
        }
    }
}
