import Crypto
import FerryCore
import FerryServer
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Responds to the opening handshake of a WebSocket (RFC 6455 §4.2), and then replaces HTTP with WebSocket frames.
///
/// Placed directly after the HTTP decoder and the checks of requests. Other requests are passed on. The HTTP handlers behind it
/// stay in the pipeline, and the server's task for the connection waits for the connection to close.
final class WebSocketUpgrade: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let responder: Aria2Responder
    /// The handshake that is being received.
    private var handshake: HTTPRequestHead?

    init(_ responder: Aria2Responder) { self.responder = responder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), handshake) {
        case (.head(let head), nil) where Self.isHandshake(head): handshake = head
        case (.body, _?), (.head, _?): break
        case (.end, let head?):
            handshake = nil
            answer(head, context)
        default: context.fireChannelRead(data)
        }
    }

    private static func isHandshake(_ head: HTTPRequestHead) -> Bool {
        func has(_ word: String, in name: String) -> Bool {
            head.headers[canonicalForm: name].contains { $0.lowercased() == word }
        }
        return has("websocket", in: "upgrade") && has("upgrade", in: "connection")
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch verdict(head) {
        case .failure(let refusal):
            var fields = HTTPHeaders([("Content-Length", "0"), ("Connection", "close")])
            if refusal.status == .upgradeRequired { fields.add(name: "Sec-WebSocket-Version", value: "13") }
            respond(refusal.status, fields, context)
            context.close(promise: nil)
        case .success(let key):
            let digest = Insecure.SHA1.hash(data: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
            respond(
                .switchingProtocols,
                [
                    "Upgrade": "websocket", "Connection": "Upgrade",
                    "Sec-WebSocket-Accept": Data(digest).base64EncodedString(),
                ], context)
            upgrade(context)
        }
    }

    private struct Refusal: Error { let status: HTTPResponseStatus }

    /// Returns the key of an allowed handshake.
    private func verdict(_ head: HTTPRequestHead) -> Result<String, Refusal> {
        guard let method = HTTPRequest.Method(head.method.rawValue) else {
            return .failure(Refusal(status: .badRequest))
        }
        var origin = AccessPolicy.RequestOrigin(method: method, target: head.uri, hosts: head.headers["host"])
        origin.origins = head.headers["origin"]
        origin.sites = head.headers["sec-fetch-site"]
        if case .refused(let status) = responder.verdict(origin) {
            return .failure(Refusal(status: HTTPResponseStatus(statusCode: status)))
        }
        guard head.method == .GET, let key = head.headers.first(name: "sec-websocket-key"), !key.isEmpty else {
            return .failure(Refusal(status: .badRequest))
        }
        guard head.headers["sec-websocket-version"] == ["13"] else {
            return .failure(Refusal(status: .upgradeRequired))
        }
        guard head.uri == Aria2Responder.jsonPath else { return .failure(Refusal(status: .notFound)) }
        return .success(key)
    }

    private func respond(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, _ context: ChannelHandlerContext) {
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func upgrade(_ context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let most = Aria2Socket.mostBytes
            try pipeline.addHandlers(
                [
                    WebSocketFrameEncoder(), ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: most)),
                    WebSocketFrameCheck(),
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: most),
                    Aria2Socket(responder),
                ], position: .before(self))
            try Front.leaveHTTP(in: pipeline)
            _ = pipeline.removeHandler(self)
        } catch {
            context.close(promise: nil)
        }
    }
}
