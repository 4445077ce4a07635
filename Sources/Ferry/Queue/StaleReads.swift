import FerryCore
import Synchronization

/// Tracks, for each reader of store rows, which downloads changed during the read and must be read again.
///
/// A running download, or one with a handle, has an object that is newer than its row. If that object is released
/// while its row is being read, the read row may be outdated, and an object created from it would stay so.
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

    /// The downloads that changed since this reader began, or last called this method.
    func changes(for reader: Int) -> Set<DownloadID> {
        state.withLock { state in
            defer { if state.changed[reader] != nil { state.changed[reader] = [] } }
            return state.changed[reader] ?? []
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

    /// Notes a stored change; called while the object of the download still exists.
    func note(_ id: DownloadID) {
        state.withLock { state in for reader in state.changed.keys { state.changed[reader]?.insert(id) } }
    }

    /// Notes stored changes of downloads that have no objects, and get none until this returns.
    func note(_ ids: [DownloadID]) {
        state.withLock { state in for reader in state.changed.keys { state.changed[reader]?.formUnion(ids) } }
    }
}
