import FerryCore
import FerryEngine
import Synchronization

/// The storage of a list while it is open: its rows, the secrets of its requests, and the ledger of its runs.
///
/// The three are in the same directory, are opened and closed together, and are used without a lock. After the list is closed, none
/// of them is returned, and a call to one that the caller still retains fails. Events that the app acknowledges while the list is
/// closed are stored at the next opening.
final class ListStorage: Sendable {
    private enum State {
        /// With the path to which the catalogue was moved at the opening, if it was damaged.
        case open(store: any DownloadStore, vault: any SecretVault, ledger: RunLedger?, damaged: String?)
        /// With the numbers of the events that the app has acknowledged since.
        case closed(acknowledged: [Int64])
    }
    private let state: Mutex<State>

    /// Creates the storage of a list that is kept on disk and not open yet, or of a list in memory.
    init(isKept: Bool) {
        state = Mutex(
            isKept
                ? .closed(acknowledged: [])
                : .open(store: MemoryStore(), vault: SecretMemory(), ledger: nil, damaged: nil))
    }

    /// The store while the list is open.
    var store: (any DownloadStore)? {
        state.withLock { if case .open(let store, _, _, _) = $0 { store } else { nil } }
    }

    /// The secrets; empty while the list is closed.
    var vault: any SecretVault {
        state.withLock { if case .open(_, let vault, _, _) = $0 { vault } else { SecretMemory() } }
    }

    /// The runs recorded for the next process; `nil` if the list is not kept, or closed.
    var ledger: RunLedger? {
        state.withLock { if case .open(_, _, let ledger, _) = $0 { ledger } else { nil } }
    }

    /// The path to which a damaged catalogue was moved when the list was opened; `nil` if it was not damaged, or the list is
    /// closed.
    var damaged: String? {
        state.withLock { if case .open(_, _, _, let damaged) = $0 { damaged } else { nil } }
    }

    /// Opens the list, or replaces its storage.
    func open(
        _ store: any DownloadStore, _ vault: any SecretVault, _ ledger: RunLedger?, damaged: String? = nil
    ) {
        let acknowledged = state.withLock { state in
            defer { state = .open(store: store, vault: vault, ledger: ledger, damaged: damaged) }
            return if case .closed(let numbers) = state { numbers } else { [Int64]() }
        }
        if !acknowledged.isEmpty { store.submit(acknowledged.map { .acknowledge($0) }) }
    }

    /// Closes the list. Returns the store, which the caller must close to make all changes durable; `nil` if the list was
    /// already closed.
    func close() -> (any DownloadStore)? {
        state.withLock { state in
            guard case .open(let store, _, _, _) = state else { return nil }
            state = .closed(acknowledged: [])
            return store
        }
    }

    /// Stores that the app has handled an event; in a closed list, at its next opening.
    func acknowledge(_ number: Int64) {
        let store: (any DownloadStore)? = state.withLock { state in
            switch state {
            case .open(let store, _, _, _): return store
            case .closed(var numbers):
                state = .closed(acknowledged: [])
                numbers.append(number)
                state = .closed(acknowledged: numbers)
                return nil
            }
        }
        store?.submit([.acknowledge(number)])
    }
}
