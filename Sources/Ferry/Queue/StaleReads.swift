import FerryCore
import Synchronization

/// Who reads rows of the store, and which downloads changed meanwhile: what was read of those is out of date.
///
/// A download that runs, or that somebody holds, has an object that knows better than its row. One that was let go since
/// its row was read has none: without this, a new one would be made from a row of the past, and stay so.
final class StaleReads: Sendable {
    private struct State {
        var changed: [Int: Set<DownloadID>] = [:]
        var last = 0
    }
    private let state = Mutex(State())

    /// Begins to note changes, for one reader.
    func begin() -> Int {
        state.withLock { state in
            state.last += 1
            state.changed[state.last] = []
            return state.last
        }
    }

    /// What changed since this reader began, or asked last.
    func changes(for reader: Int) -> Set<DownloadID> {
        state.withLock { state in
            defer { if state.changed[reader] != nil { state.changed[reader] = [] } }
            return state.changed[reader] ?? []
        }
    }

    /// Whether one download changed since this reader began, or asked last for it.
    func hasChanged(_ id: DownloadID, since reader: Int) -> Bool {
        state.withLock { state in state.changed[reader]?.remove(id) != nil }
    }

    func end(_ reader: Int) { state.withLock { $0.changed[reader] = nil } }

    /// Called once a change is in the store, while the object of the download is still there.
    func note(_ id: DownloadID) {
        state.withLock { state in for reader in state.changed.keys { state.changed[reader]?.insert(id) } }
    }

    /// The same for many that have no object, and get none until this has returned.
    func note(_ ids: [DownloadID]) {
        state.withLock { state in for reader in state.changed.keys { state.changed[reader]?.formUnion(ids) } }
    }
}
