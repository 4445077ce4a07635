import FerryAPI
import FerryCore
import Foundation
import Testing

@testable import FerryServer

@Suite("ListedTexts")
struct ListedTextsTests {
    private func listed(_ id: String, bytes: ByteCount = 0) -> ListedDownload {
        var status = DownloadStatus(id: DownloadID(rawValue: id), state: .paused, name: "\"\(id)\"\u{2028}<b>")
        status.progress.completedBytes = bytes
        return ListedDownload(
            status: status, session: "default", url: "http://example.com/\(id)",
            addedAt: Date(timeIntervalSince1970: 1_700_000_000))
    }

    private func read(_ text: Data) throws -> [ListedDownload] {
        try JSONCoding.decode([ListedDownload].self, from: Data("[".utf8) + text + Data("]".utf8))
    }

    @Test("ListedTexts: the cached items equal the encoded ones, the first time and later", arguments: [0, 1, 3, 1500])
    func whole(count: Int) throws {
        let texts = ListedTexts()
        let items = (0..<count).map { listed("d\($0)") }
        for _ in 0..<3 {
            #expect(try read(try texts.items(items)) == items)
        }
    }

    @Test("ListedTexts: changed and reordered downloads appear in the next page")
    func changed() throws {
        let texts = ListedTexts()
        var items = (0..<4).map { listed("d\($0)") }
        _ = try texts.items(items)
        items[2] = listed("d2", bytes: 77)
        #expect(try read(try texts.items(items)) == items)
        items.swapAt(0, 3)
        #expect(try read(try texts.items(items)) == items)
    }
}
