import FerryAPI
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A cache of list items encoded as JSON, since most of a list is unchanged when requested again.
///
/// An entry is used only if its source equals the item, so nothing needs to be invalidated.
final class ListedTexts: Sendable {
    private struct Entry {
        let listed: ListedDownload
        let text: Data
    }

    /// The maximum number of entries; beyond it the cache is emptied.
    private static let most = 1000
    private let entries = Mutex<[DownloadID: Entry]>([:])

    /// Returns the items, separated by commas.
    func items(_ items: [ListedDownload]) throws -> Data {
        var text = Data()
        for item in try texts(of: items) {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(item)
        }
        return text
    }

    private func texts(of items: [ListedDownload]) throws -> [Data] {
        let known = entries.withLock { entries in
            items.map { item in entries[item.id].flatMap { $0.listed == item ? $0.text : nil } }
        }
        var new: [Entry] = []
        let texts = try zip(items, known).map { item, text in
            if let text { return text }
            let text = try APICoding.encode(item)
            // Items with a handle contain the time of the request, so they are never equal.
            if item.handle == nil { new.append(Entry(listed: item, text: text)) }
            return text
        }
        if !new.isEmpty {
            entries.withLock { entries in
                if entries.count + new.count > Self.most { entries = [:] }
                for entry in new.prefix(Self.most) { entries[entry.listed.id] = entry }
            }
        }
        return texts
    }
}
