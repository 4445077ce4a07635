import AsyncHTTPClient
package import FerryCore
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The transport that speaks HTTP/1.1 over TCP and TLS, through AsyncHTTPClient.
///
/// ```
/// fetch ── FetchChain ── hop ── HTTPClient of the route ── RequestTargetHandler ── socket
///             │            └── TransferFailure.mapping
///             └── RedirectPolicy, CookieJar, credentials
/// ```
/// One client per route (direct, or one for each proxy), made when first needed. A chain of redirects has cookies of
/// its own: those of the settings, then what its answers set; nothing is carried from one fetch to the next. Release it
/// after ``shutdown()``; a transport that is let go without it closes its connections too.
package final class HTTPTransport: Transport {
    /// The event loops that transports share unless told otherwise: one for each core, at most four; they live as long
    /// as the process, and start with the first request.
    package static let eventLoops: any EventLoopGroup =
        MultiThreadedEventLoopGroup(numberOfThreads: max(1, min(4, System.coreCount)))

    /// Executors over ``eventLoops``, one each.
    package static let executors: [EventLoopExecutor] = eventLoops.makeIterator().map { EventLoopExecutor($0) }

    let settings: TransferSettings
    let challenges = ChallengeMemory()
    let hops = HTTPExchangeRegistry()
    /// The addresses of a name, for who may connect to public ones only.
    let lookUp: @Sendable (String) async -> [IPAddress]
    private let receiveBuffers = ReceiveBuffers()
    private let group: (any EventLoopGroup)?
    private let poolLimit: Int
    private let state = Mutex(State())

    private struct State {
        var clients: [ProxyRoute: HTTPClient] = [:]
        var isShutDown = false
    }

    /// Makes a transport; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - group: where connections live. Default: ``eventLoops``.
    ///   - poolLimit: the most connections to one host; more requests wait. Default: as the settings say.
    ///   - lookUp: the addresses of a name. Default: the system's.
    package init(
        _ settings: TransferSettings, group: (any EventLoopGroup)? = nil, poolLimit: Int? = nil,
        lookUp: (@Sendable (String) async -> [IPAddress])? = nil
    ) {
        self.lookUp = lookUp ?? { await HostLookup.addresses(of: $0) }
        self.settings = settings
        self.group = group
        self.poolLimit = max(1, poolLimit ?? settings.connectionsPerHost)
    }

    deinit {
        // AsyncHTTPClient wants every client shut down; the calls keep them alive until that is done.
        for client in takeClients() { client.shutdown { _ in } }
    }

    /// The most bytes that one receive buffer may have: small under a rate limit, so that what the sockets take in
    /// does not outrun it. Default and most 512 KiB; 16 KiB at least. A buffer that a connection already has is kept.
    package var receiveBufferCap: Int {
        get { receiveBuffers.cap }
        set { receiveBuffers.cap = newValue }
    }

    /// How many connections are open now.
    package var connectionCount: Int { receiveBuffers.channelCount }

    package func shutdown() async {
        for client in takeClients() { try? await client.shutdown() }
    }

    package func renew() {
        let old = state.withLock { state in
            defer { state.clients.removeAll() }
            return Array(state.clients.values)
        }
        for client in old { client.shutdown { _ in } }
    }

    package func limitPieces(to bytes: Int?) { receiveBufferCap = bytes ?? .max }

    private func takeClients() -> [HTTPClient] {
        state.withLock { state in
            state.isShutDown = true
            defer { state.clients.removeAll() }
            return Array(state.clients.values)
        }
    }

    /// The client for a route; made when it is first asked for.
    func client(for route: ProxyRoute) throws(TransferFailure) -> HTTPClient {
        let client = state.withLock { state -> HTTPClient? in
            guard !state.isShutDown else { return nil }
            if let client = state.clients[route] { return client }
            let client = HTTPClient(
                eventLoopGroup: group ?? Self.eventLoops, configuration: configuration(for: route))
            state.clients[route] = client
            return client
        }
        guard let client else { throw TransferFailure(.cancelled, ErrorPhrase(.transportShutDown)) }
        return client
    }

    /// Each setting has its reason in the table of the design's section on dependencies.
    private func configuration(for route: ProxyRoute) -> HTTPClient.Configuration {
        var pool = HTTPClient.Configuration.ConnectionPool(idleTimeout: .seconds(60))
        pool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionLimit(for: route)
        pool.retryConnectionEstablishment = false
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(min(max(settings.connectTimeout, .milliseconds(1)), .seconds(86400)))),
            connectionPool: pool, decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.tracing.tracer = nil
        configuration.proxy = route.clientProxy
        configuration.tlsConfiguration = tls
        configuration.http1_1ConnectionDebugInitializer = { [hops, receiveBuffers] channel in
            Self.prepare(channel, hops: hops, receiveBuffers: receiveBuffers)
        }
        return configuration
    }

    /// A proxy that is asked for whole URLs is one host to the pool, whatever the number of hosts behind it.
    private func connectionLimit(for route: ProxyRoute) -> Int {
        route.isForwarding ? max(256, poolLimit) : poolLimit
    }

    /// Only a description: the certificates are read with the first TLS connection.
    private var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        // A connection that is cut in mid-body would go on reading, for five seconds, until the server says goodbye:
        // what nobody wants is not fetched. How a body ended is known without it.
        tls.shutdownTimeout = .milliseconds(1)
        if let file = settings.caFile { tls.trustRoots = .file(file) }
        if settings.insecure { tls.certificateVerification = .none }
        return tls
    }

    /// Makes a new connection ours, on its event loop.
    private static func prepare(
        _ channel: any Channel, hops: HTTPExchangeRegistry, receiveBuffers: ReceiveBuffers
    ) -> EventLoopFuture<Void> {
        do {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            try pipeline.addHandler(RequestTargetHandler(hops: hops), position: .after(encoder))
            // Network.framework's channels trap at options they do not know: only ours get any.
            if MultiThreadedEventLoopGroup.currentEventLoop != nil, let options = channel.syncOptions {
                let isEncrypted = (try? pipeline.context(handlerType: NIOSSLClientHandler.self)) != nil
                try options.setOption(
                    .recvAllocator, value: SharedRecvAllocator(receiveBuffers, isEncrypted: isEncrypted))
                // One large read at a time: else four are taken in before anybody has asked for the second.
                try options.setOption(.maxMessagesPerRead, value: 1)
            }
            receiveBuffers.channelOpened()
            channel.closeFuture.whenComplete { _ in receiveBuffers.channelClosed() }
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }
}
