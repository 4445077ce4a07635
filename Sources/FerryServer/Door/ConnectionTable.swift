import NIOCore
import Synchronization

/// The connections over TCP: which have shown a token, and which one.
///
/// Those that have not are few: a further one closes the oldest of them, so that nobody who only holds connections keeps the
/// page out. When a token is withdrawn, the connections that have shown it are closed, event streams with them.
final class ConnectionTable: Sendable {
    /// Goes through the pipeline of a connection that must go.
    enum Eviction: Sendable, Hashable {
        /// There are too many that have shown no token.
        case crowded
        /// Its token was withdrawn.
        case withdrawn
    }

    private enum Standing {
        /// The number by which it came in.
        case unknown(Int)
        case known(token: String)
    }
    private struct State {
        var connections: [ObjectIdentifier: (channel: any Channel, standing: Standing)] = [:]
        var unknownCount = 0
        var entrances = 0
    }
    private let mostUnknown: Int
    private let state = Mutex(State())

    init(mostUnknown: Int) { self.mostUnknown = mostUnknown }

    /// The connections that have shown no token.
    var unknownCount: Int { state.withLock { $0.unknownCount } }

    /// A connection has come in; it leaves the table when it is closed.
    func enter(_ channel: any Channel) {
        let evicted: (any Channel)? = state.withLock { state in
            var evicted: (any Channel)?
            if state.unknownCount >= mostUnknown {
                var oldest: (id: ObjectIdentifier, number: Int)?
                for (id, connection) in state.connections {
                    guard case .unknown(let number) = connection.standing, number < oldest?.number ?? .max else {
                        continue
                    }
                    oldest = (id, number)
                }
                if let oldest {
                    evicted = state.connections.removeValue(forKey: oldest.id)?.channel
                    state.unknownCount -= 1
                }
            }
            state.entrances += 1
            state.unknownCount += 1
            state.connections[ObjectIdentifier(channel)] = (channel, .unknown(state.entrances))
            return evicted
        }
        evicted?.pipeline.fireUserInboundEventTriggered(Eviction.crowded)
        channel.closeFuture.whenComplete { [self] _ in leave(channel) }
    }

    /// A connection has shown a token.
    func identify(_ channel: any Channel, token: String) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            // One that was evicted meanwhile is closed when its answer is written, or before.
            guard let connection = state.connections[id] else { return }
            if case .unknown = connection.standing { state.unknownCount -= 1 }
            state.connections[id] = (channel, .known(token: token))
        }
    }

    func isKnown(_ channel: any Channel) -> Bool {
        state.withLock { state in
            if case .known? = state.connections[ObjectIdentifier(channel)]?.standing { true } else { false }
        }
    }

    /// Closes the connections that have shown one of these tokens.
    func close(tokens: some Sequence<String>) {
        let tokens = Set(tokens)
        let closed = state.withLock { state in
            state.connections.values.filter { connection in
                if case .known(let token) = connection.standing { tokens.contains(token) } else { false }
            }
        }
        for connection in closed { connection.channel.pipeline.fireUserInboundEventTriggered(Eviction.withdrawn) }
    }

    private func leave(_ channel: any Channel) {
        state.withLock { state in
            guard let connection = state.connections.removeValue(forKey: ObjectIdentifier(channel)) else { return }
            if case .unknown = connection.standing { state.unknownCount -= 1 }
        }
    }
}
