import FerryCore
import NIOCore
import NIOHTTP1

/// Replaces a request target that is not a path with `*`, which matches no resource. Otherwise, the layers above would drop the
/// host of an absolute-form target (`GET http://evil/api/v1`) before the access policy sees it.
///
/// Also closes the connection after a response to an HTTP/1.0 client, which waits for the close.
final class RequestLineCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// The path to prepend to absolute-form `http:` targets, which clients send to a proxy; `nil` if the listener is not a
    /// proxy.
    private let proxyPath: String?

    init(proxyPath: String? = nil) { self.proxyPath = proxyPath }

    private func proxyHost(_ channel: any Channel) -> String? { channel.localAddress?.port.map { "127.0.0.1:\($0)" } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if head.uri.utf8.first != UInt8(ascii: "/") {
            if let proxyPath, let rest = head.uri.dropping(prefix: "http://"),
                let host = proxyHost(context.channel)
            {
                // Only a client that uses this port as its proxy sends an absolute-form target. The URL is checked instead of the
                // host.
                head.uri = proxyPath + rest
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
        private let upgrade: (any ChannelInboundHandler)?
        private let proxyPath: String?

        /// - Parameter upgrade: Added after the check.
        init(_ limiter: RequestLimiter, then upgrade: (any ChannelInboundHandler)? = nil, proxyPath: String? = nil) {
            self.limiter = limiter
            self.upgrade = upgrade
            self.proxyPath = proxyPath
        }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let check = RequestLineCheck(proxyPath: proxyPath)
                try pipeline.addHandlers([limiter, check], position: .after(decoder))
                if let upgrade { try pipeline.addHandler(upgrade, position: .after(check)) }
            } catch {
                // Without the handlers no request may be read.
                context.close(promise: nil)
            }
        }
    }
}
