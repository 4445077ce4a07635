import NIOCore
import NIOHTTP1

/// Replaces a request target that is not a path by `*`, which matches no resource. The layers above would drop the
/// host of an absolute-form target (`GET http://evil/api/v1`) before the access policy sees it.
///
/// Also closes the connection after a response to an HTTP/1.0 client, which waits for that.
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

    /// Adds a limiter and a check directly after the decoder, from the position where Hummingbird adds handlers.
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
                // Without the handlers no request may be read.
                context.close(promise: nil)
            }
        }
    }
}
