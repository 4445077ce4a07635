public import Ferry
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server on this machine that serves scripted files over HTTP, for tests of a whole app. It listens on 127.0.0.1, at a free
/// port.
///
/// ```swift
/// let film = ScriptedFile("/film.mp4", bytes: 20_000_000)
/// let origin = try await LocalOrigin([film])
/// let download = try await manager.download(from: origin.url(of: film))
/// await origin.stop()
/// ```
///
/// Responds to GET and HEAD, with ranges and a strong ETag. On Apple's systems, `URLSession` requests to it need an exception in
/// App Transport Security (`NSAllowsLocalNetworking`); Ferry's own requests do not.
public final class LocalOrigin: Sendable {
    private let channel: any Channel
    private let connections: Connections
    /// The port on which the server listens.
    public let port: Int

    /// Starts a server, which runs until ``stop()``.
    public init(_ files: [ScriptedFile]) async throws {
        let connections = Connections()
        self.connections = connections
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                connections.add(channel)
                return channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(files))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// Closes the port and all connections.
    public func stop() async {
        try? await channel.close()
        for connection in connections.all { try? await connection.close() }
    }

    /// Returns the URL of a file on this server.
    public func url(of file: ScriptedFile) throws(DownloadError) -> DownloadURL {
        try DownloadURL("http://127.0.0.1:\(port)" + file.path)
    }

    /// The open connections.
    private final class Connections: Sendable {
        private let open = Mutex<[ObjectIdentifier: any Channel]>([:])
        var all: [any Channel] { open.withLock { Array($0.values) } }

        func add(_ channel: any Channel) {
            open.withLock { $0[ObjectIdentifier(channel)] = channel }
            channel.closeFuture.whenComplete { _ in
                _ = self.open.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
            }
        }
    }

    /// Responds to the requests of one connection, one after another.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let files: [ScriptedFile]
        private var head: HTTPRequestHead?

        init(_ files: [ScriptedFile]) { self.files = files }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let new): head = new
            case .body: break
            case .end:
                if let head { answer(head, context) }
                head = nil
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
            var fields = HTTPFields()
            for (name, value) in request.headers {
                if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
            }
            var response = ScriptedResponse(to: request.uri, fields, of: files)
            if request.method != .GET, request.method != .HEAD { (response.status, response.range) = (405, 0..<0) }
            var headers = HTTPHeaders()
            for field in response.fields { headers.add(name: field.name.rawName, value: field.value) }
            if response.status != 304 {
                headers.add(name: "Content-Length", value: "\(response.range.upperBound - response.range.lowerBound)")
            }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            let isWithBody = request.method == .GET
            send(ScriptedBody(response.file ?? ScriptedFile("/"), isWithBody ? response.range : 0..<0), context)
        }

        /// Sends the next piece, and further pieces as the client accepts them.
        private func send(_ body: ScriptedBody, _ context: ChannelHandlerContext) {
            var body = body
            switch body.next() {
            case .end: context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            case .stop: context.flush()
            case .piece(let bytes, let pause):
                let rest = body
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                let amount = TimeAmount(pause)
                context.eventLoop.scheduleTask(in: amount) {
                    let (handler, context) = bound.value
                    let part = handler.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
                    let sent = context.eventLoop.makePromise(of: Void.self)
                    sent.futureResult.assumeIsolated().whenSuccess { handler.send(rest, context) }
                    context.writeAndFlush(part, promise: sent)
                }
            }
        }
    }
}
