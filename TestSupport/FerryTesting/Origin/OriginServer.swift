import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/1.1 origin that serves files of any size without holding them, and misbehaves when told to:
///
/// ```swift
/// let server = try await OriginServer.start()                     // 127.0.0.1, a free port
/// server.serve("/a.bin", Resource(size: 1 << 30, seed: 7))        // strong ETag, Last-Modified, ranges
/// server.script("/a.bin", [.cut(after: 1000, .reset), .status(503, retryAfter: "1")])   // first hit, second hit; then honest
/// server.update("/a.bin") { $0.seed = 8; $0.etag = "\"b\"" }      // from now on another version
/// let url = server.url("/a.bin")
/// try await server.waitFor { $0.requests.count >= 2 }             // no sleeping
/// await server.shutdown()
/// ```
///
/// An answer is made from one version of a resource (`Answer.honest`), changed by the path's behaviours, and sent step by
/// step; at most 256 KiB of it are with the socket. Without any call `/file/…`, `/redirect/…` and `/expiring/…` answer by
/// their own parameters (`FileRoutes.help`).
public final class OriginServer: Sendable {
    /// Answers a request by itself; nil: as if there were no route.
    public typealias Route = @Sendable (RequestHead) -> Answer?

    /// How the server starts.
    public struct Configuration: Sendable {
        /// The addresses to listen on, numeric. Default: 127.0.0.1.
        public var addresses: [String] = ["127.0.0.1"]
        /// 0: a free one.
        public var port = 0
        /// TLS with this certificate; nil: plain.
        public var certificate: Certificate?
        /// Speaks at most TLS 1.1 (A43).
        public var isOldTLS = false
        /// Bytes of content a second for each connection.
        public var connectionRate: Int64?
        /// Bytes of content a second for all connections together.
        public var serverRate: Int64?
        /// How many connections are served.
        public var limit: ConnectionLimit?
        /// Whether connections are kept for further requests. Default: yes.
        public var keepsAlive = true
        /// Added before each head: a long way to the server.
        public var latency: Duration?
        /// SO_SNDBUF of each connection; small: what is counted as sent is close to what the client has. Default: the system's.
        public var sendBuffer: Int?
        /// Whether `/file/…` and the like answer by their URL. Default: yes.
        public var servesFileRoutes = true
        /// Threads. Default: 2.
        public var threads = 2

        /// The defaults.
        public init() {}
    }

    /// The certificate of the authority that signed `.good`, `.wrongHost` and `.expired`, PEM.
    public static let caPEM = Certificate.authority + "\n"

    /// The port that clients connect to.
    public var port: Int { listener.port }
    /// How it was started.
    public let configuration: Configuration

    let state: OriginState
    private let listener: Listener
    private let group: MultiThreadedEventLoopGroup

    private init(
        configuration: Configuration, state: OriginState, listener: Listener, group: MultiThreadedEventLoopGroup
    ) {
        self.configuration = configuration
        self.state = state
        self.listener = listener
        self.group = group
    }

    /// Starts a server; it runs until `shutdown()`.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> OriginServer {
        var inner = OriginState.Inner()
        inner.connectionRate = configuration.connectionRate
        inner.serverRate = configuration.serverRate
        inner.serverLimiter = configuration.serverRate.map {
            RateLimiter(bytesPerSecond: $0, now: NIODeadline.now().uptimeNanoseconds)
        }
        inner.limit = configuration.limit
        inner.keepsAlive = configuration.keepsAlive
        inner.latency = configuration.latency
        if configuration.servesFileRoutes {
            let routes = FileRoutes()
            inner.fallback = { routes.answer($0) }
        }
        let state = OriginState(inner)
        let tls = try configuration.certificate?.context(isOld: configuration.isOldTLS)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threads))
        let listener = Listener(group: group, addresses: configuration.addresses, port: configuration.port) {
            var bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try Self.prepare(channel, state: state, tls: tls) }
                }
            if let size = configuration.sendBuffer {
                bootstrap = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: .init(size))
            }
            return bootstrap
        }
        do {
            try await listener.set(open: true).get()
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        if configuration.limit?.excess == .refuse {
            // Taken back by `shutdown`: the listener holds the state.
            state.listen.withLock { hook in hook = { listener.set(open: { state.wantsListening }) } }
        }
        return OriginServer(configuration: configuration, state: state, listener: listener, group: group)
    }

    /// Starts a server, gives it to the body, and shuts it down whatever happens.
    public static func with<T: Sendable>(
        _ configuration: Configuration = Configuration(), _ body: (OriginServer) async throws -> T
    ) async throws -> T {
        let server = try await start(configuration)
        do {
            let result = try await body(server)
            await server.shutdown()
            return result
        } catch {
            await server.shutdown()
            throw error
        }
    }

    /// Builds the pipeline of an accepted connection.
    private static func prepare(_ channel: any Channel, state: OriginState, tls: NIOSSLContext?) throws {
        let (connection, greeting) = state.accepted(channel)
        channel.closeFuture.whenComplete { _ in state.closed(connection) }
        guard greeting == .serve else {
            try channel.pipeline.syncOperations.addHandler(
                GreetingHandler(greeting))
            return
        }
        let wire = WireHandler { state.active() }
        try channel.pipeline.syncOperations.addHandler(wire)
        if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(state: state, connection: connection, wire: wire))
    }

    /// Stops listening (connection refused) or listens again on the same port; returns when it is so.
    public func setListening(_ isListening: Bool) async throws {
        state.change { $0.isListening = isListening }
        try await listener.set(open: { [state] in state.wantsListening }).get()
    }

    /// Closes all connections, with RST if wanted; new ones are taken. When it returns, none of the old is answered any more.
    public func dropConnections(reset: Bool = true) async {
        for channel in state.inner.withLock({ Array($0.channels.values) }) {
            let closing = channel.eventLoop.submit {
                if reset { channel.resetOnClose() }
                (try? channel.pipeline.syncOperations.handler(type: WireHandler.self))?.close()
                    ?? channel.close(promise: nil)
            }
            try? await closing.get()
        }
    }

    /// Closes everything and stops the threads; who waits for traffic gets it as it is. A second call does nothing.
    public func shutdown() async {
        let wasClosed = state.change { inner in
            defer { inner.isClosed = true }
            return inner.isClosed
        }
        guard !wasClosed else { return }
        state.listen.withLock { $0 = nil }
        try? await listener.set(open: false).get()
        await dropConnections(reset: false)
        try? await group.shutdownGracefully()
    }
}
