import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A forward proxy with CONNECT tunnels and absolute-form requests, optionally with Basic credentials. Records
/// requests.
///
/// ```swift
/// let proxy = try await ProxyServer.start(credentials: ("u", "p"), hosts: ["files.test": "127.0.0.1"])
/// proxy.url                                  // http://127.0.0.1:PORT
/// proxy.requests                             // each received head: CONNECT files.test:443, GET http://files.test/…
/// await proxy.shutdown()
/// ```
public final class ProxyServer: Sendable {
    private let listener: Listener
    private let group: MultiThreadedEventLoopGroup
    private let seen: Mutex<[RequestHead]>

    /// The port that clients connect to.
    public var port: Int { listener.port }
    /// `http://127.0.0.1:PORT`.
    public var url: String { "http://127.0.0.1:\(port)" }
    /// All received heads, including refused ones.
    public var requests: [RequestHead] { seen.withLock { $0 } }

    /// The credentials, host addresses and refused port of the proxy.
    struct Rules: Sendable {
        var authorization: String?
        var hosts: [String: String]
        var refusesConnectToPort: Int?
    }

    private init(_ rules: Rules, group: MultiThreadedEventLoopGroup, log: ProxyLog) {
        self.group = group
        seen = Mutex([])
        listener = Listener(group: group, addresses: ["127.0.0.1"], port: 0) {
            ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ProxyHandler(rules: rules, log: log))
                    }
                }
        }
    }

    /// Starts a proxy. `hosts` maps names to addresses; other hosts are connected to directly (only loopback in
    /// tests). `refusesConnectToPort` answers CONNECT to that port with 403, as many proxies do for 80.
    public static func start(
        credentials: (user: String, password: String)? = nil, hosts: [String: String] = [:],
        refusesConnectToPort: Int? = nil
    ) async throws -> ProxyServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let rules = Rules(
            authorization: credentials.map { "Basic \(Behaviour.base64("\($0.user):\($0.password)"))" }, hosts: hosts,
            refusesConnectToPort: refusesConnectToPort)
        let log = ProxyLog()
        let proxy = ProxyServer(rules, group: group, log: log)
        log.proxy.withLock { $0.value = proxy }
        do {
            try await proxy.listener.set(open: true).get()
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        return proxy
    }

    func note(_ head: RequestHead) { seen.withLock { $0.append(head) } }

    /// Closes all connections and stops the thread.
    public func shutdown() async {
        try? await listener.set(open: false).get()
        try? await group.shutdownGracefully()
    }
}

/// Connects the handlers with their proxy without retaining it.
final class ProxyLog: Sendable {
    struct Weak { weak var value: ProxyServer? }
    let proxy = Mutex(Weak())
    func note(_ head: RequestHead) { proxy.withLock { $0.value }?.note(head) }
}
