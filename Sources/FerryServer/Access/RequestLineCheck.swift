import FerryCore
import NIOCore
import NIOHTTP1

/// Replaces a request target that is not a path by `*`, which matches no resource. The layers above would drop the
/// host of an absolute-form target (`GET http://evil/api/v1`) before the access policy sees it.
///
/// Also closes the connection after a response to an HTTP/1.0 client, which waits for that.
final class RequestLineCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether absolute-form targets of `http:` are requests to the gateway, as to a proxy.
    private let isProxy: Bool

    init(isProxy: Bool = false) { self.isProxy = isProxy }

    private func proxyHost(_ channel: any Channel) -> String? { channel.localAddress?.port.map { "127.0.0.1:\($0)" } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if head.uri.utf8.first != UInt8(ascii: "/") {
            if isProxy, let rest = head.uri.dropping(prefix: "http://"), let host = proxyHost(context.channel) {
                // Only a client for which this is the proxy sends it; the gateway checks the URL instead of the host.
                head.uri = GatewayRoute.archives + rest
                head.headers.replaceOrAdd(name: "Host", value: host)
            } else {
                head.uri = "*"
            }
        }
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
        private let upgrade: WebSocketUpgrade?
        private let isProxy: Bool

        /// - Parameter upgrade: Added after the check.
        init(_ limiter: RequestLimiter, then upgrade: WebSocketUpgrade? = nil, isProxy: Bool = false) {
            self.limiter = limiter
            self.upgrade = upgrade
            self.isProxy = isProxy
        }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let check = RequestLineCheck(isProxy: isProxy)
                try pipeline.addHandlers([limiter, check], position: .after(decoder))
                if let upgrade { try pipeline.addHandler(upgrade, position: .after(check)) }
            } catch {
                // Without the handlers no request may be read.
                context.close(promise: nil)
            }
        }
    }
}
