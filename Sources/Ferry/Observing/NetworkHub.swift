import FerryCore
import Synchronization

/// Sends the latest network status to all followers.
final class NetworkHub: Sendable {
    private let state = Mutex((followers: [Int: AsyncStream<NetworkStatus>.Continuation](), last: 0, isClosed: false))

    /// The status of `current` and every later one; if `current` returns `nil`, begins with the next status sent.
    func stream(from current: () -> NetworkStatus?) -> AsyncStream<NetworkStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkStatus.self, bufferingPolicy: .bufferingNewest(1))
        let id: Int? = state.withLock { state in
            // Yield under the lock, so that no status is sent in between.
            if let status = current() { continuation.yield(status) }
            guard !state.isClosed else { return nil }
            state.last += 1
            state.followers[state.last] = continuation
            return state.last
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.followers[id] = nil }
        }
        return stream
    }

    func send(_ status: NetworkStatus) {
        state.withLock { state in for follower in state.followers.values { follower.yield(status) } }
    }

    func close() {
        let followers = state.withLock { state in
            state.isClosed = true
            defer { state.followers.removeAll() }
            return Array(state.followers.values)
        }
        for follower in followers { follower.finish() }
    }
}
