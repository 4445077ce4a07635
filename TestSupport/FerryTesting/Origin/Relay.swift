import NIOCore
import NIOPosix
import Synchronization

/// A TCP relay in front of a server that can be interrupted, to simulate a failing network.
///
/// ```swift
/// let relay = try await Relay.start(to: server.port)
/// relay.cut()                                  // RST on both sides of every connection
/// try await relay.setRefusing(true)            // connection refused, until false
/// relay.freeze(); relay.thaw()                 // stops and resumes forwarding
/// await relay.shutdown()
/// ```
public final class Relay: Sendable {
    private struct State {
        var pairs: [ObjectIdentifier: any Channel] = [:]
        var isFrozen = false
        var accepted = 0
        var held: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>
    private let listener: Listener
    private let group: MultiThreadedEventLoopGroup

    /// The port that clients connect to.
    public var port: Int { listener.port }
    /// The number of connections accepted so far.
    public var acceptedConnections: Int { state.withLock { $0.accepted } }

    private init(target: (host: String, port: Int)) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let box = RelayBox()
        self.group = group
        state = Mutex(State())
        listener = Listener(group: group, addresses: ["127.0.0.1"], port: 0) {
            ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelInitializer { channel in
                    guard let relay = box.relay.withLock({ $0.value }) else { return channel.close() }
                    return relay.accept(channel, target)
                }
        }
        box.relay.withLock { $0.value = self }
    }

    /// Starts a relay to a port of this machine.
    public static func start(to port: Int, host: String = "127.0.0.1") async throws -> Relay {
        let relay = Relay(target: (host, port))
        do {
            try await relay.listener.set(open: true).get()
        } catch {
            try? await relay.group.shutdownGracefully()
            throw error
        }
        return relay
    }

    private func accept(_ channel: any Channel, _ target: (host: String, port: Int)) -> EventLoopFuture<Void> {
        state.withLock { $0.accepted += 1 }
        watch(channel)
        return ClientBootstrap(group: channel.eventLoop)
            .channelOption(.autoRead, value: false)
            .connect(host: target.host, port: target.port)
            .flatMap { upstream in
                self.watch(upstream)
                return channel.eventLoop.makeCompletedFuture {
                    try PipeHandler.join(channel, upstream, mayPass: { self.mayPass($0) })
                }
            }
    }

    private func watch(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { $0.pairs[key] = channel }
        channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.pairs.removeValue(forKey: key) } }
    }

    /// Returns true to continue; otherwise `release` is called when the relay thaws.
    private func mayPass(_ release: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isFrozen { state.held.append(release) }
            return !state.isFrozen
        }
    }

    /// Closes every connection with RST on both sides. New ones are accepted.
    public func cut() {
        let channels = state.withLock { Array($0.pairs.values) }
        // First for all, because the close of one end also closes the other. The single event loop guarantees the order.
        for channel in channels { channel.eventLoop.execute { channel.resetOnClose() } }
        for channel in channels { channel.eventLoop.execute { channel.close(promise: nil) } }
    }

    /// Refuses connections (true), or accepts them again on the same port (false).
    public func setRefusing(_ refuses: Bool) async throws { try await listener.set(open: !refuses).get() }

    /// Stops forwarding without closing connections.
    public func freeze() { state.withLock { $0.isFrozen = true } }

    /// Resumes forwarding.
    public func thaw() {
        let held = state.withLock { state in
            state.isFrozen = false
            defer { state.held = [] }
            return state.held
        }
        for release in held { release() }
    }

    /// Closes all connections and stops the thread.
    public func shutdown() async {
        try? await listener.set(open: false).get()
        thaw()
        cut()
        try? await group.shutdownGracefully()
    }
}

/// Connects the listener with the relay, which is created later; weak to avoid a retain cycle.
private final class RelayBox: Sendable {
    struct Weak { weak var value: Relay? }
    let relay = Mutex(Weak())
}
