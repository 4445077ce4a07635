import FerryAPI
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A cache of list items encoded as JSON, because most of a list is unchanged when it is requested again.
///
/// An entry is used only if its source equals the item, so nothing needs to be invalidated. The position of the log, which differs
/// with each request, is not part of the entry.
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

    private func texts(of listed: [ListedDownload]) throws -> [Data] {
        let items = listed.map { item in
            var item = item
            item.asOf = nil
            return item
        }
        let known = entries.withLock { entries in
            items.map { item in entries[item.id].flatMap { $0.listed == item ? $0.text : nil } }
        }
        var new: [Entry] = []
        let texts = try zip(items, known).map { item, text in
            if let text { return text }
            let text = try JSONCoding.encode(item)
            new.append(Entry(listed: item, text: text))
            return text
        }
        if !new.isEmpty {
            entries.withLock { entries in
                if entries.count + new.count > Self.most { entries = [:] }
                for entry in new.prefix(Self.most) { entries[entry.listed.id] = entry }
            }
        }
        return zip(listed, texts).map { item, text in
            // The object has other members, so a comma must follow.
            item.asOf.map { Data(#"{"asOf":\#($0),"#.utf8) + text.dropFirst() } ?? text
        }
    }
}
