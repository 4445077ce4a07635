import NIOCore
import NIOPosix
import Synchronization

/// A SOCKS version 5 proxy without authentication, which records its targets.
///
/// ```swift
/// let proxy = try await SOCKSServer.start(hosts: ["files.test": "127.0.0.1"])
/// proxy.targets                              // files.test:80
/// await proxy.shutdown()
/// ```
public final class SOCKSServer: Sendable {
    /// The requested targets, shared with the connections.
    final class Targets: Sendable {
        private let all = Mutex<[String]>([])
        func note(_ target: String) { all.withLock { $0.append(target) } }
        var list: [String] { all.withLock { $0 } }
    }

    private let listener: Listener
    private let group: MultiThreadedEventLoopGroup
    private let noted: Targets

    /// The port that clients connect to.
    public var port: Int { listener.port }
    /// `socks5://127.0.0.1:PORT`.
    public var url: String { "socks5://127.0.0.1:\(port)" }
    /// The `host:port` of every CONNECT, with names as received.
    public var targets: [String] { noted.list }

    private init(hosts: [String: String], group: MultiThreadedEventLoopGroup, noted: Targets) {
        self.group = group
        self.noted = noted
        listener = Listener(group: group, addresses: ["127.0.0.1"], port: 0) {
            ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(SOCKSHandler(hosts: hosts, targets: noted))
                    }
                }
        }
    }

    /// Starts a proxy. `hosts` maps names to addresses; other hosts are connected to directly (only loopback in tests).
    public static func start(hosts: [String: String] = [:]) async throws -> SOCKSServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = SOCKSServer(hosts: hosts, group: group, noted: Targets())
        do {
            try await server.listener.set(open: true).get()
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        return server
    }

    /// Closes all connections and stops the thread.
    public func shutdown() async {
        try? await listener.set(open: false).get()
        try? await group.shutdownGracefully()
    }
}
