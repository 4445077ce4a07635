import FerryCore
import Synchronization

/// The downloads in memory, by their identifier: an entry goes when its download does.
///
/// Its lock is the innermost: it may be taken under any other, and nothing is called or let go under it.
final class LiveRegistry: Sendable {
    private struct Entry {
        weak var live: LiveDownload?
        /// Whose entry it is, also when that is being let go. A number: an optional of a weak reference beside an
        /// `ObjectIdentifier` is not told from none by Swift 6.3.
        let object: Int

        init(_ live: LiveDownload) {
            self.live = live
            object = Int(bitPattern: ObjectIdentifier(live))
        }
    }
    private struct Entries {
        var listed: [DownloadID: Entry] = [:]
        /// Those that were taken out, and that somebody holds.
        var removed: [DownloadID: Entry] = [:]
    }
    private let entries = Mutex(Entries())

    /// The download, while somebody holds it.
    subscript(id: DownloadID) -> LiveDownload? { entries.withLock { $0.listed[id]?.live } }

    /// The last with this identifier that was taken out, while somebody holds it.
    func removed(_ id: DownloadID) -> LiveDownload? { entries.withLock { $0.removed[id]?.live } }

    /// All that somebody holds, in no order.
    var all: [LiveDownload] { entries.withLock { $0.listed.values.compactMap(\.live) } }

    /// How many entries there are.
    var count: Int { entries.withLock { $0.listed.count + $0.removed.count } }

    func insert(_ live: LiveDownload) {
        let entry = Entry(live)
        entries.withLock { $0.listed[live.id] = entry }
    }

    /// Takes one out, which goes on to exist while somebody holds it.
    @discardableResult
    func remove(_ id: DownloadID) -> LiveDownload? {
        entries.withLock { entries in
            guard let entry = entries.listed.removeValue(forKey: id) else { return nil }
            let live = entry.live
            if live != nil { entries.removed[id] = entry }
            return live
        }
    }

    /// A download is let go. Another one may have its identifier by now.
    func letGo(_ id: DownloadID, _ object: ObjectIdentifier) {
        entries.withLock { entries in
            if entries.listed[id]?.object == Int(bitPattern: object) { entries.listed[id] = nil }
            if entries.removed[id]?.object == Int(bitPattern: object) { entries.removed[id] = nil }
        }
    }
}
