import Ferry
import FerryCore
import FerryServer
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The current use of the files of the gateway's cache, and the time of each file's last use.
final class GatewayUses: Sendable {
    private struct State {
        /// The number of clients of each download.
        var held: [DownloadID: Int] = [:]
        /// The downloads that are being removed.
        var leaving: Set<DownloadID> = []
        /// The time of the last request for each file, in seconds since 1970.
        var uses: [String: Double] = [:]
    }
    private let state: Mutex<State>
    /// Notified when a removal has ended.
    private let removals = AsyncEvent()
    /// The stored uses. For a file without an entry, the date of its download counts.
    private let file: PrivateFile
    private static let mostBytes = 8 << 20

    /// Reads the uses that an earlier start has stored.
    init(in directory: String) {
        file = PrivateFile(directory + "/uses.json", most: Self.mostBytes)
        let text = file.read()
        let found = text.flatMap { try? JSONCoding.decode([String: Double].self, from: Data($0.utf8)) } ?? [:]
        state = Mutex(State(uses: found))
    }

    /// Prevents a download from being removed. If it is already being removed, waits for the removal; the download is then no
    /// longer listed.
    func hold(_ id: DownloadID) async {
        while true {
            let seen = removals.count
            // A cancelled client no longer reads, so it need not wait.
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

    /// Removes a download with `body`, unless a client holds it. Returns whether it was removed.
    func removing(_ id: DownloadID, _ body: () async -> Bool) async -> Bool {
        guard state.withLock({ $0.held[id] == nil && $0.leaving.insert(id).inserted }) else { return false }
        defer {
            state.withLock { _ = $0.leaving.remove(id) }
            removals.notify()
        }
        return await body()
    }

    func isHeld(_ id: DownloadID) -> Bool { state.withLock { $0.held[id] != nil } }

    /// Whether a use of the file is recorded.
    func isKnown(_ id: String) -> Bool { state.withLock { $0.uses[id] != nil } }

    /// The time of the last request for each requested file.
    var all: [String: Double] { state.withLock { $0.uses } }

    /// Returns the time of the last use of a download.
    static func use(of row: CatalogueRow, _ uses: [String: Double]) -> Double {
        uses[row.id.rawValue] ?? (row.endedAt ?? row.createdAt).timeIntervalSince1970
    }

    /// Removes the uses of files that were not kept, unless they were used since `date` or are in use. Returns the remaining
    /// uses.
    func forget(since date: Double, keeping kept: Set<String>) -> [String: Double] {
        state.withLock { state in
            state.uses = state.uses.filter { id, use in
                use >= date || kept.contains(id) || state.held[DownloadID(rawValue: id)] != nil
            }
            return state.uses
        }
    }

    /// Stores the uses. Throws `disk`. Blocks.
    func write(_ uses: [String: Double]) throws(DownloadError) {
        guard let data = try? JSONCoding.encode(uses) else { return }
        try file.write(String(decoding: data, as: UTF8.self))
    }
}
