import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/1.1 origin that serves generated files of any size, and misbehaves on demand:
///
/// ```swift
/// let server = try await OriginServer.start()                     // 127.0.0.1, a free port
/// server.serve("/a.bin", Resource(size: 1 << 30, seed: 7))        // strong ETag, Last-Modified, ranges
/// server.script("/a.bin", [.cut(after: 1000, .reset), .status(503, retryAfter: "1")])   // two faults, then honest
/// server.update("/a.bin") { $0.seed = 8; $0.etag = "\"b\"" }      // a new version
/// let url = server.url("/a.bin")
/// try await server.waitFor { $0.requests.count >= 2 }             // no sleeping
/// await server.shutdown()
/// ```
///
/// A response is made from one version of a resource (`Answer.honest`), changed by the path's behaviours, and sent
/// step by step, with at most 256 KiB in the socket. Paths such as `/file/…`, `/redirect/…` and `/expiring/…` respond
/// according to their own parameters (`FileRoutes.help`).
public final class OriginServer: Sendable {
    /// Returns the response to a request; nil to proceed as if there were no route.
    public typealias Route = @Sendable (RequestHead) -> Answer?

    /// The configuration of a server.
    public struct Configuration: Sendable {
        /// The numeric addresses to listen on. Default: 127.0.0.1.
        public var addresses: [String] = ["127.0.0.1"]
        /// The port; 0 for a free one.
        public var port = 0
        /// The TLS certificate; nil for plain HTTP.
        public var certificate: Certificate?
        /// Whether the server supports at most TLS 1.1 (A43).
        public var isOldTLS = false
        /// The content rate of each connection, in bytes per second.
        public var connectionRate: Int64?
        /// The content rate of all connections together, in bytes per second.
        public var serverRate: Int64?
        /// The limit of connections.
        public var limit: ConnectionLimit?
        /// Whether connections are kept for further requests. Default: yes.
        public var keepsAlive = true
        /// A delay before each head, to simulate network latency.
        public var latency: Duration?
        /// SO_SNDBUF of each connection. If small, the bytes counted as sent are close to those received. Default:
        /// the system's.
        public var sendBuffer: Int?
        /// Whether `/file/…` and similar paths are answered. Default: yes.
        public var servesFileRoutes = true
        /// The number of threads. Default: 2.
        public var threads = 2

        /// Creates the default configuration.
        public init() {}
    }

    /// The certificate of the CA that signed `.good`, `.wrongHost` and `.expired`, in PEM format.
    public static let caPEM = Certificate.authority + "\n"

    /// The port of the server.
    public var port: Int { listener.port }
    /// The configuration at the start.
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

    /// Starts a server, which runs until `shutdown()`.
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
            // `shutdown` resets the hook to break the retain cycle, because the listener retains the state.
            state.listen.withLock { hook in hook = { listener.set(open: { state.wantsListening }) } }
        }
        return OriginServer(configuration: configuration, state: state, listener: listener, group: group)
    }

    /// Starts a server, passes it to the body, and always shuts it down.
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

    /// Sets up the pipeline of an accepted connection.
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

    /// Stops listening (connection refused) or listens again on the same port. Returns when that has taken effect.
    public func setListening(_ isListening: Bool) async throws {
        state.change { $0.isListening = isListening }
        try await listener.set(open: { [state] in state.wantsListening }).get()
    }

    /// Closes all connections, by default with RST. New ones are accepted. Afterwards no old connection is answered.
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

    /// Closes all connections and stops the threads. Tasks in `waitFor` receive the current traffic. Idempotent.
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
