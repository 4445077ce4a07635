import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Accepts connections at a listening socket that another process has created. The socket's file, if it has one, is not
/// removed at the end, because it belongs to that process.
struct InheritedListener: Service {
    let channel: HTTP1Channel
    let descriptor: Int32
    let mostConnections: Int
    let logger: Logger
    /// Called once connections are accepted.
    let running: @Sendable (any Channel) async -> Void

    func run() async throws {
        let connections = OpenConnections()
        let (channel, logger, most) = (channel, logger, mostConnections)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AvailableConnectionsChannelHandler(
                            delegate: MaximumAvailableConnections(most, logger: logger)))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(descriptor) { connection in
                connections.enter(connection)
                return channel.setup(channel: connection, logger: logger)
            }
        await withGracefulShutdownHandler {
            await running(server.channel)
            await withDiscardingTaskGroup { group in
                do {
                    try await server.executeThenClose { accepted in
                        for try await connection in accepted {
                            group.addTask { await channel.handle(value: connection, logger: logger) }
                        }
                    }
                } catch {
                    logger.error("connections are no longer accepted", metadata: ["error": "\(error)"])
                }
            }
        } onGracefulShutdown: {
            server.channel.close(promise: nil)
            connections.quiesce()
        }
    }
}

/// The connections of a listener, which are notified when it ends, so that connections without a request close.
private final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isQuiescing = false
    }
    private let state = Mutex(State())

    /// Adds a connection, which is removed when it closes.
    func enter(_ channel: any Channel) {
        let isLate = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.isQuiescing
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
        }
        if isLate { channel.close(promise: nil) }
    }

    func quiesce() {
        let channels = state.withLock { state in
            state.isQuiescing = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }
}
