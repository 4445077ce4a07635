import FerryCore
import Synchronization

/// The attempts at downloads that got a web page in place of their file, such as the sign-in page of a network.
///
/// One task tries them again on another network, after that of the network before has ended. Each download has a number of
/// attempts, so that a page that always comes is not requested for ever by a machine that changes its network often; its user,
/// and whatever gets it past the page, gives it as many again.
final class PageRetries: Sendable {
    /// How often a download is tried again by itself before its user has to resume it.
    static let maxAttempts = 12

    private struct State {
        var task: Task<Void, Never>?
        /// How often each was tried.
        var attempts: [DownloadID: Int] = [:]
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Cancels the attempts of the former network, and calls `body` once they have ended.
    func begin(_ body: @escaping @Sendable () async -> Void) {
        let last: Task<Void, Never>? = state.withLock { state in
            guard !state.isClosed else { return nil }
            let last = state.task
            // owner: state; cancelled when the network changes, and in close.
            state.task = Task {
                await last?.value
                await body()
            }
            return last
        }
        last?.cancel()
    }

    /// Counts an attempt; returns false if it was the last one before.
    func take(_ id: DownloadID) -> Bool {
        state.withLock { state in
            let count = state.attempts[id, default: 0]
            guard count < Self.maxAttempts else { return false }
            state.attempts[id] = count + 1
            return true
        }
    }

    /// The download has got past the page, its user tries it again, or it is not listed any more.
    func forget(_ id: DownloadID) { state.withLock { $0.attempts[id] = nil } }

    /// The attempts of the present network; `nil` before the first.
    var task: Task<Void, Never>? { state.withLock { $0.task } }

    /// Ends all attempts; none begins from now on.
    func close() async {
        let last = state.withLock { state in
            state.isClosed = true
            return state.task
        }
        last?.cancel()
        await last?.value
    }
}
