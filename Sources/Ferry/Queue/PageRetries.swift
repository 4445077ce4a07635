import FerryCore
import Synchronization

/// The retries of downloads that received a web page in place of their file, such as the sign-in page of a network.
///
/// When the network has changed, one task retries them, after the task of the previous network has ended. The number of retries
/// of a download is limited, so that a machine that often changes its network does not request the same page for ever. The
/// count restarts when the user resumes the download, or when it has received something other than the page.
final class PageRetries: Sendable {
    /// Maximum number of automatic retries of a download; afterwards the user must resume it.
    static let maxAttempts = 12

    private struct State {
        var task: Task<Void, Never>?
        /// The number of retries of each download.
        var attempts: [DownloadID: Int] = [:]
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Cancels the retries of the previous network, and calls `body` once they have ended.
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

    /// Counts a retry; returns false if no retry is left.
    func take(_ id: DownloadID) -> Bool {
        state.withLock { state in
            let count = state.attempts[id, default: 0]
            guard count < Self.maxAttempts else { return false }
            state.attempts[id] = count + 1
            return true
        }
    }

    /// Resets the count of a download that has received something other than the page, was resumed by the user, or is no longer
    /// listed.
    func forget(_ id: DownloadID) { state.withLock { $0.attempts[id] = nil } }

    /// The task of the current network; `nil` before the first.
    var task: Task<Void, Never>? { state.withLock { $0.task } }

    /// Cancels all retries; none begins afterwards.
    func close() async {
        let last = state.withLock { state in
            state.isClosed = true
            return state.task
        }
        last?.cancel()
        await last?.value
    }
}
