import AsyncHTTPClient
package import FerryCore
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The transport for HTTP/1.1 over TCP and TLS, built on AsyncHTTPClient.
///
/// ```
/// fetch ── FetchChain ── HTTPExchange ── HTTPClient of the route ── HTTPExchangeHandler ── socket
///               │                 └── TransferFailure.mapping
///               └── RedirectPolicy, CookieJar, credentials
/// ```
/// There is one ``RouteClient`` per route, trusted certificates and time limit, created on first use. Each redirect chain has
/// its own cookies: those of the settings plus those set by its responses; no cookie survives a fetch. Call
/// ``shutdown()`` before releasing a transport; otherwise its connections close with their last body.
package final class HTTPTransport: Transport {
    /// The event loops that transports share by default: one per core, at most four, and only one if few threads are available.
    /// They start with the first request and live as long as the process.
    package static let eventLoops: any EventLoopGroup =
        MultiThreadedEventLoopGroup(numberOfThreads: ThreadSupply.isScarce ? 1 : max(1, min(4, System.coreCount)))

    /// The executors of ``eventLoops``, one for each.
    package static let executors: [EventLoopExecutor] = eventLoops.makeIterator().map { EventLoopExecutor($0) }

    let challenges = ChallengeMemory()
    let exchanges = HTTPExchangeRegistry()
    /// The keys and regions for `s3` URLs.
    let s3: S3Access
    /// Returns the addresses of a name, for requests that are limited to public addresses.
    let lookUp: @Sendable (String) async -> [IPAddress]
    /// Resolves names before a connection is made; `nil` if ``lookUp`` is not the system's resolver.
    let names: HostNames?
    private let receiveBuffers = ReceiveBuffers()
    let clock: any EngineClock
    let group: (any EventLoopGroup)?
    private let poolLimit: Int
    private let state: Mutex<State>

    /// The maximum number of clients that are kept for further requests. Downloads choose their proxies and certificates, and
    /// each client has a connection pool.
    static let mostClients = 64

    private struct State {
        var settings: TransferSettings
        var clients = RecentValues<RouteClient.Key, RouteClient>(capacity: mostClients)
        var isShutDown = false
    }

    /// Creates a transport; opens nothing yet.
    ///
    /// - Parameters:
    ///   - group: The event loops of the connections. Default: ``eventLoops``.
    ///   - poolLimit: The maximum number of connections to one host; further requests wait. Default: the settings' value.
    ///   - lookUp: Returns the addresses of a name. Default: the system's resolver.
    ///   - clock: The clock for the time limits of short bodies.
    ///   - readFile: Returns the bytes of an AWS settings file, up to the given number; `nil` if it cannot be read. Default: no
    ///     files exist.
    package init(
        _ settings: TransferSettings, group: (any EventLoopGroup)? = nil, poolLimit: Int? = nil,
        clock: any EngineClock = SystemClock(), lookUp: (@Sendable (String) async -> [IPAddress])? = nil,
        readFile: @escaping @Sendable (_ path: String, _ most: Int) async -> [UInt8]? = { _, _ in nil }
    ) {
        s3 = S3Access(readFile: readFile)
        self.clock = clock
        names = lookUp == nil ? .shared : nil
        self.lookUp = lookUp ?? { await HostNames.shared.addresses(of: $0) }
        state = Mutex(State(settings: settings))
        self.group = group
        self.poolLimit = max(1, poolLimit ?? settings.connectionsPerHost)
    }

    /// The maximum size of one receive buffer. It is small under a rate limit, so that sockets do not receive faster than the
    /// limit. Default and maximum 512 KiB, minimum 16 KiB. Buffers in use keep their size.
    package var receiveBufferCap: Int {
        get { receiveBuffers.cap }
        set { receiveBuffers.cap = newValue }
    }

    /// The number of open connections.
    package var connectionCount: Int { receiveBuffers.channelCount }

    package var settings: TransferSettings { state.withLock { $0.settings } }

    package func use(_ settings: TransferSettings) { state.withLock { $0.settings = settings } }

    package func shutdown() async {
        let clients = state.withLock { state in
            state.isShutDown = true
            return state.clients.removeAll()
        }
        for client in clients { try? await client.http.shutdown() }
    }

    package func renew() {
        names?.networkChanged()
        for client in state.withLock({ $0.clients.removeAll() }) { client.http.shutdown { _ in } }
    }

    package func limitPieces(to bytes: Int?) { receiveBufferCap = bytes ?? .max }

    /// Returns the client for a route under these settings, created on first use.
    func client(for route: ProxyRoute, _ settings: TransferSettings) throws -> RouteClient {
        let key = RouteClient.Key(route: route, settings)
        let client = try state.withLock { state -> RouteClient? in
            guard !state.isShutDown else { return nil }
            if let client = state.clients[key] { return client }
            let http = HTTPClient(
                eventLoopGroup: group ?? Self.eventLoops, configuration: try configuration(for: key))
            let client = RouteClient(http)
            state.clients[key] = client
            return client
        }
        guard let client else { throw TransferFailure(.cancelled, ErrorPhrase(.transportShutDown)) }
        return client
    }

    /// Turns off the features that Ferry implements itself (redirects, retries, decoding) and allows only HTTP/1.1;
    /// docs/decisions.md gives the reasons.
    private func configuration(for key: RouteClient.Key) throws -> HTTPClient.Configuration {
        var pool = HTTPClient.Configuration.ConnectionPool(idleTimeout: .seconds(60))
        // The pool treats a forwarding proxy as one host, even if it serves many hosts.
        pool.concurrentHTTP1ConnectionsPerHostSoftLimit = key.route.isForwarding ? max(256, poolLimit) : poolLimit
        pool.retryConnectionEstablishment = false
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(min(max(key.connectTimeout, .milliseconds(1)), .seconds(86400)))),
            connectionPool: pool, decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.tracing.tracer = nil
        configuration.proxy = key.route.clientProxy
        configuration.tlsConfiguration = try key.tls
        configuration.http1_1ConnectionDebugInitializer = { [exchanges, receiveBuffers] channel in
            Self.prepare(channel, exchanges: exchanges, receiveBuffers: receiveBuffers)
        }
        return configuration
    }

    /// Installs Ferry's handler and options in a new connection, on its event loop.
    private static func prepare(
        _ channel: any Channel, exchanges: HTTPExchangeRegistry, receiveBuffers: ReceiveBuffers
    ) -> EventLoopFuture<Void> {
        do {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            var bufferSize: (() -> Int)?
            // Network.framework's channels trap on unknown options, so only NIO's own channels get any.
            if MultiThreadedEventLoopGroup.currentEventLoop != nil, let options = channel.syncOptions {
                let isEncrypted = (try? pipeline.context(handlerType: NIOSSLClientHandler.self)) != nil
                bufferSize = { receiveBuffers.ceiling(isEncrypted: isEncrypted) }
                try options.setOption(
                    .recvAllocator, value: SharedRecvAllocator(receiveBuffers, isEncrypted: isEncrypted))
                // One large read at a time: the default reads four buffers before the consumer requests the second.
                try options.setOption(.maxMessagesPerRead, value: 1)
            }
            let handler = HTTPExchangeHandler(exchanges: exchanges, bufferSize: bufferSize)
            try pipeline.addHandler(handler, position: .after(encoder))
            receiveBuffers.channelOpened()
            channel.closeFuture.whenComplete { _ in receiveBuffers.channelClosed() }
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }
}
