package import FerryCore
import Synchronization

/// The downloads in memory, by identifier; an entry is removed when its download is released.
///
/// Its lock is the innermost: it may be acquired while any other lock is held, and no code is called and no object released
/// while it is held.
package final class LiveRegistry: Sendable {
    private struct Entry {
        weak var live: LiveDownload?
        /// The address of the object, valid while it is being released. Stored as a number, because Swift 6.3 mistakes an optional
        /// entry that contains a weak reference and an `ObjectIdentifier` for `nil`.
        let object: Int

        init(_ live: LiveDownload) {
            self.live = live
            object = Int(bitPattern: ObjectIdentifier(live))
        }
    }
    private struct Entries {
        var listed: [DownloadID: Entry] = [:]
        /// Downloads that left the list but are still referenced.
        var removed: [DownloadID: Entry] = [:]
    }
    private let entries = Mutex(Entries())

    package init() {}

    /// The listed download, while it is referenced.
    package subscript(id: DownloadID) -> LiveDownload? { entries.withLock { $0.listed[id]?.live } }

    /// The last download with this identifier that left the list, while it is referenced.
    func removed(_ id: DownloadID) -> LiveDownload? { entries.withLock { $0.removed[id]?.live } }

    /// All listed downloads that are referenced, in no particular order.
    package var all: [LiveDownload] { entries.withLock { $0.listed.values.compactMap(\.live) } }

    /// The number of entries.
    var count: Int { entries.withLock { $0.listed.count + $0.removed.count } }

    package func insert(_ live: LiveDownload) {
        let entry = Entry(live)
        entries.withLock { $0.listed[live.id] = entry }
    }

    /// Removes a download from the listed downloads; the object stays reachable by ``removed(_:)`` while it is referenced.
    @discardableResult
    package func remove(_ id: DownloadID) -> LiveDownload? {
        entries.withLock { entries in
            guard let entry = entries.listed.removeValue(forKey: id) else { return nil }
            let live = entry.live
            if live != nil { entries.removed[id] = entry }
            return live
        }
    }

    /// Removes the entry of a released object, unless another object now has its identifier.
    func released(_ id: DownloadID, _ object: ObjectIdentifier) {
        entries.withLock { entries in
            if entries.listed[id]?.object == Int(bitPattern: object) { entries.listed[id] = nil }
            if entries.removed[id]?.object == Int(bitPattern: object) { entries.removed[id] = nil }
        }
    }
}
