import FerryAPI
import FerryCore
import Foundation
import Synchronization

/// What was last said of each download, as JSON: most of a list is the same when it is asked for again.
///
/// A text is used only for what is equal to that of which it was made, so that nothing has to be taken back when a
/// download changes.
final class ListedTexts: Sendable {
    private struct Entry {
        let listed: ListedDownload
        let text: Data
    }

    /// How many are kept; then all are thrown away.
    private static let most = 1000
    private let entries = Mutex<[DownloadID: Entry]>([:])

    /// A page of the list, as ``DownloadPage`` is coded.
    func page(_ items: [ListedDownload], total: Int, offset: Int) throws -> Data {
        var text = Data(#"{"items":["#.utf8)
        var isFirst = true
        for item in try texts(of: items) {
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text.append(item)
        }
        text.append(contentsOf: #"],"offset":\#(offset),"total":\#(total)}"#.utf8)
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
            // What a handle shows carries the time at which it was asked for.
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
