import FerryCore
import FerryEngine
import Synchronization

/// Downloads that got a web page in place of their file, such as the sign-in page of a network.
extension Scheduler {
    /// How often a download is tried again by itself before its user has to resume it, so that a page that always comes is
    /// not requested for ever by a machine that changes its network often.
    static let mostPageAttempts = 12

    /// Tries them again, each at its place in the queue: the network has changed.
    func retryPages() {
        let last = state.withLock { state in
            defer { state.network.pages = nil }
            return state.network.pages
        }
        last?.cancel()
        state.withLock { state in
            guard state.phase == .open, state.store != nil else { return }
            // owner: state.network; cancelled when the network changes, and in shutdown.
            state.network.pages = Task { [weak self] in
                await last?.value
                await self?.tryPages()
            }
        }
    }

    private func tryPages() async {
        guard let store, let entries = try? await store.load(RowFilter(kinds: [.waitingForFreshLink])) else { return }
        for start in stride(from: 0, to: entries.count, by: 1000) {
            let some = entries[start..<min(entries.count, start + 1000)]
            for row in (try? await store.rows(some.map(\.id))) ?? [] where row.waitError?.isPage == true {
                guard !Task.isCancelled, takePageAttempt(of: row.id) else { continue }
                do throws(DownloadError) {
                    if let live = try await self.live(row.id, in: store) { try await tryPage(live) }
                } catch { complain(error) }
            }
        }
    }

    private func tryPage(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        let (now, error) = live.standing
        guard now == .waiting(.freshLink), error?.isPage == true, !live.isClosed else { return }
        try await join(live, keepsPlace: true)
    }

    private func takePageAttempt(of id: DownloadID) -> Bool {
        state.withLock { state in
            let count = state.network.pageAttempts[id, default: 0]
            guard count < Self.mostPageAttempts else { return false }
            state.network.pageAttempts[id] = count + 1
            return true
        }
    }

    /// The download has got past the page, its user tries it again, or it is not listed any more.
    func forgetPage(_ id: DownloadID) { state.withLock { $0.network.pageAttempts[id] = nil } }
}

extension DownloadError {
    /// Whether a web page came in place of the file.
    fileprivate var isPage: Bool { phrase?.key == .pageInstead }
}
