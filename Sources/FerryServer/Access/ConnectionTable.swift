import NIOCore
import Synchronization

/// The pipeline event that closes a connection.
public enum ConnectionEviction: Sendable, Hashable {
    /// There are too many connections without a token.
    case crowded
    /// The connection's token was withdrawn.
    case withdrawn
}

/// The open TCP connections and the token that each has presented. The number of unauthenticated connections is limited: a new
/// connection evicts the oldest one, so that idle connections cannot block the page. When a token is withdrawn, its connections are
/// closed, including event streams.
final class ConnectionTable: Sendable {
    private enum Standing {
        /// No token so far; the payload numbers connections in the order of arrival.
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

    /// The number of connections that have presented no token.
    var unknownCount: Int { state.withLock { $0.unknownCount } }

    /// Adds a new connection, which is removed when it closes.
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
        evicted?.pipeline.fireUserInboundEventTriggered(ConnectionEviction.crowded)
        channel.closeFuture.whenComplete { [self] _ in leave(channel) }
    }

    /// Records the token that a connection has presented.
    func identify(_ channel: any Channel, token: String) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            // A connection that was evicted meanwhile is closed once its response is written, or earlier.
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

    /// Closes the connections that have presented one of these tokens.
    func close(tokens: some Sequence<String>) {
        let tokens = Set(tokens)
        let closed = state.withLock { state in
            state.connections.values.filter { connection in
                if case .known(let token) = connection.standing { tokens.contains(token) } else { false }
            }
        }
        for connection in closed {
            connection.channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction.withdrawn)
        }
    }

    private func leave(_ channel: any Channel) {
        state.withLock { state in
            guard let connection = state.connections.removeValue(forKey: ObjectIdentifier(channel)) else { return }
            if case .unknown = connection.standing { state.unknownCount -= 1 }
        }
    }
}
