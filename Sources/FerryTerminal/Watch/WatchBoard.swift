package import Ferry
package import FerryAPI
import FerryCore

/// What `ferry watch` knows: events and keys go in, rows and orders come out. Pure.
package struct WatchBoard: Sendable {
    /// What a key asks the daemon for.
    package enum Order: Sendable, Hashable {
        case pause(DownloadID)
        case resume(DownloadID)
        case cancel(DownloadID)
        case limit(ByteCount?)
        case quit
    }

    private var downloads: [DownloadID: ListedDownload] = [:]
    private var order: [DownloadID] = []
    /// The one that keys are about.
    package private(set) var selected: DownloadID?
    /// The one whose cancelling is asked about.
    package private(set) var asksAbout: DownloadID?
    /// Bytes per second, of the daemon.
    package private(set) var limit: ByteCount?
    package var network = NetworkStatus(isOnline: true, isMetered: false, isConstrained: false)
    /// The daemon does not answer.
    package var isLost = false
    /// The order, or more, has changed: the list is to be read anew.
    package private(set) var isStale = false

    package init() {}

    // MARK: Facts

    /// The whole list, in its order.
    package mutating func fill(_ items: [ListedDownload]) {
        downloads = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
        order = items.map(\.id)
        isStale = false
        settle()
    }

    package mutating func take(_ event: StreamEvent) {
        switch event {
        case .state(let download):
            if downloads.updateValue(download, forKey: download.id) == nil { order.append(download.id) }
        case .progress(let batch):
            // What has stopped stands as its state says: progress may be older than that.
            for one in batch {
                let id = DownloadID(rawValue: one.id)
                if let state = downloads[id]?.status.state, Self.rank(state) == 0 {
                    downloads[id]?.status.progress = one.progress
                }
            }
        case .removed(let ids):
            let gone = Set(ids.map { DownloadID(rawValue: $0) })
            for id in gone { downloads[id] = nil }
            order.removeAll(where: gone.contains)
        case .order: isStale = true
        case .settings(let settings): if settings.scope == "daemon" { limit = settings.rateLimit }
        case .network(let body): network = body.status
        case .reset(let snapshot):
            fill(snapshot.items)
            isStale = snapshot.total > snapshot.items.count
            limit = snapshot.settings.rateLimit
            network = snapshot.network.status
        case .happened, .ended, .upToDate: break
        }
        settle()
    }

    /// The selection stays on the list.
    private mutating func settle() {
        let rows = rows
        if let selected, rows.contains(where: { $0.id == selected }) { return }
        selected = rows.first?.id
        asksAbout = nil
    }

    // MARK: What is shown

    package func download(_ id: DownloadID) -> ListedDownload? { downloads[id] }

    /// All in the order of the list.
    package var all: [ListedDownload] { order.compactMap { downloads[$0] } }

    /// Those that have not ended: those that run, then those that wait, are paused, have failed; each in the list's order.
    package var rows: [ListedDownload] {
        let open = all.compactMap { one in Self.rank(one.status.state).map { (one, $0) } }
        return (0..<4).flatMap { rank in open.filter { $0.1 == rank }.map(\.0) }
    }

    private static func rank(_ state: DownloadState) -> Int? {
        switch state {
        case .downloading, .verifying: 0
        case .waiting: 1
        case .paused: 2
        case .failed: 3
        case .completed, .cancelled: nil
        }
    }

    /// Bytes per second of all.
    package var speed: Double {
        downloads.values.reduce(0) { sum, one in
            one.status.state == .downloading ? sum + max(0, one.status.progress.bytesPerSecond) : sum
        }
    }

    /// How many there are of each, in words: `2 running, 1 waiting`; those that there are none of are left out.
    package var counts: String {
        var counts: [(String, Int)] = [
            ("running", 0), ("waiting", 0), ("paused", 0), ("failed", 0), ("completed", 0), ("cancelled", 0),
        ]
        for one in downloads.values {
            let index =
                switch one.status.state {
                case .downloading, .verifying: 0
                case .waiting: 1
                case .paused: 2
                case .failed: 3
                case .completed: 4
                case .cancelled: 5
                }
            counts[index].1 += 1
        }
        let words = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return words.isEmpty ? "no downloads" : words.joined(separator: ", ")
    }

    // MARK: Keys

    /// What a key means now; `nil` when nothing is to be asked of the daemon.
    package mutating func press(_ key: WatchKey) -> Order? {
        let question = asksAbout
        asksAbout = nil
        switch key {
        case .up: step(-1)
        case .down: step(1)
        case .pause: return chosen(.pause).map { .pause($0) }
        case .resume: return chosen(.resume).map { .resume($0) }
        case .cancel:
            guard let id = chosen(.cancel) else { return nil }
            // What is there is deleted: asked before.
            if question == id { return .cancel(id) }
            asksAbout = id
        case .faster:
            guard limit != nil else { return nil }
            limit = LimitSteps.faster(than: limit)
            return .limit(limit)
        case .slower:
            limit = LimitSteps.slower(than: limit, speed: speed)
            return .limit(limit)
        case .quit: return .quit
        case .other: break
        }
        return nil
    }

    private func chosen(_ action: DownloadAction) -> DownloadID? {
        guard let selected, let one = downloads[selected], one.status.state.actions.contains(action) else { return nil }
        return selected
    }

    private mutating func step(_ distance: Int) {
        let rows = rows
        guard let index = rows.firstIndex(where: { $0.id == selected }) else { return }
        selected = rows[min(rows.count - 1, max(0, index + distance))].id
    }
}
