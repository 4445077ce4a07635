import Ferry
import FerryCore
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Who uses the files of the gateway's cache now, and when each was last used.
final class GatewayUses: Sendable {
    private struct State {
        /// The number of clients of each download.
        var held: [DownloadID: Int] = [:]
        /// The downloads that are being removed.
        var leaving: Set<DownloadID> = []
        /// When each was last asked for, in seconds since 1970.
        var uses: [String: Double] = [:]
    }
    private let state: Mutex<State>
    /// Notified when a removal has ended.
    private let removals = AsyncEvent()
    /// Of files that it does not have, the dates of their downloads count.
    private let file: PrivateFile
    private static let mostBytes = 8 << 20

    /// Reads the uses that an earlier start has kept.
    init(in directory: String) {
        file = PrivateFile(directory + "/uses.json", most: Self.mostBytes)
        let text = file.read()
        let found = text.flatMap { try? JSONCoding.decode([String: Double].self, from: Data($0.utf8)) } ?? [:]
        state = Mutex(State(uses: found))
    }

    /// Keeps a download from being removed; one that is being removed is waited for, and is not listed then.
    func hold(_ id: DownloadID) async {
        while true {
            let seen = removals.count
            // A cancelled client reads nothing any more.
            let isHeld = state.withLock { state in
                guard !state.leaving.contains(id) || Task.isCancelled else { return false }
                state.held[id, default: 0] += 1
                state.uses[id.rawValue] = Date().timeIntervalSince1970
                return true
            }
            if isHeld { return }
            await removals.wait(after: seen)
        }
    }

    func release(_ id: DownloadID) {
        state.withLock { state in
            let count = (state.held[id] ?? 1) - 1
            state.held[id] = count > 0 ? count : nil
        }
    }

    /// Removes a download by `body`, unless a client holds it. Returns whether it was removed.
    func removing(_ id: DownloadID, _ body: () async -> Bool) async -> Bool {
        guard state.withLock({ $0.held[id] == nil && $0.leaving.insert(id).inserted }) else { return false }
        defer {
            state.withLock { _ = $0.leaving.remove(id) }
            removals.notify()
        }
        return await body()
    }

    func isHeld(_ id: DownloadID) -> Bool { state.withLock { $0.held[id] != nil } }

    /// Whether a file was ever asked for.
    func isKnown(_ id: String) -> Bool { state.withLock { $0.uses[id] != nil } }

    /// The use of each file that was asked for.
    var all: [String: Double] { state.withLock { $0.uses } }

    /// When a download was last used.
    static func use(of row: CatalogueRow, _ uses: [String: Double]) -> Double {
        uses[row.id.rawValue] ?? (row.endedAt ?? row.createdAt).timeIntervalSince1970
    }

    /// Forgets the uses of files that were not kept, unless they were used since `date` or are in use. Returns the others.
    func forget(since date: Double, keeping kept: Set<String>) -> [String: Double] {
        state.withLock { state in
            state.uses = state.uses.filter { id, use in
                use >= date || kept.contains(id) || state.held[DownloadID(rawValue: id)] != nil
            }
            return state.uses
        }
    }

    /// Keeps the uses. Throws `disk`. Blocks.
    func write(_ uses: [String: Double]) throws(DownloadError) {
        guard let data = try? JSONCoding.encode(uses) else { return }
        try file.write(String(decoding: data, as: UTF8.self))
    }
}
