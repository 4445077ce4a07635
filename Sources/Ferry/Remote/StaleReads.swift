import FerryCore
import Synchronization

/// Tracks, for each reader of the daemon's list, which downloads changed during the read and must be read again.
///
/// A download with a handle has an object that is newer than a row of the list. If that object is released while its
/// row is being read, the row may be outdated, and an object created from it would stay so.
final class StaleReads: Sendable {
    private struct State {
        var changed: [Int: Set<DownloadID>] = [:]
        /// Readers during which any download may have changed.
        var outdated: Set<Int> = []
        var last = 0
    }
    private let state = Mutex(State())

    /// Begins tracking changes for one reader.
    func begin() -> Int {
        state.withLock { state in
            state.last += 1
            state.changed[state.last] = []
            return state.last
        }
    }

    /// Whether a download changed since this reader began, or last called this method for it; after ``noteAll()``
    /// always.
    func hasChanged(_ id: DownloadID, since reader: Int) -> Bool {
        state.withLock { $0.changed[reader]?.remove(id) != nil || $0.outdated.contains(reader) }
    }

    func end(_ reader: Int) {
        state.withLock { state in
            state.changed[reader] = nil
            state.outdated.remove(reader)
        }
    }

    /// Notes that any download may have changed.
    func noteAll() { state.withLock { $0.outdated.formUnion($0.changed.keys) } }

    /// Notes a change; called while the object of the download still exists.
    func note(_ id: DownloadID) {
        state.withLock { state in for reader in state.changed.keys { state.changed[reader]?.insert(id) } }
    }
}
