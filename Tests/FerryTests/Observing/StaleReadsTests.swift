import FerryTesting
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Reads of rows during changes", .timeLimit(.minutes(30)))
struct RowReadersTests {
    @Test("StaleReads: a read gets each download that changed during it, once")
    func changes() {
        let readers = StaleReads()
        let (x, y, z) = (DownloadID(rawValue: "x"), DownloadID(rawValue: "y"), DownloadID(rawValue: "z"))
        readers.note(x)
        let first = readers.begin()
        readers.note(y)
        let second = readers.begin()
        readers.note(z)
        #expect(readers.hasChanged(y, since: first) && readers.hasChanged(z, since: first))
        #expect(!readers.hasChanged(y, since: first) && !readers.hasChanged(x, since: first))
        #expect(readers.hasChanged(z, since: second) && !readers.hasChanged(y, since: second))
        readers.end(first)
        readers.note(x)
        #expect(!readers.hasChanged(x, since: first))
        #expect(readers.hasChanged(x, since: second))
    }

    @Test("List: a download that ended during a read is returned as it is now, and its end can be awaited")
    func ended() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 1000))
            let manager = shop.lasting { $0.maxConcurrentDownloads = 8 }
            for index in 0..<150 {
                let id = DownloadID(rawValue: "\(index)")
                let request = try shop.request("/a") {
                    $0.id = id
                    $0.onDuplicate = .addAnother
                    $0.syncsToDisk = false
                }
                // The handle is released at once, and requested again while the download ends.
                _ = try await manager.download(request)
                let again = try await manager.download(id: id)
                _ = try await manager.downloads(offset: max(0, index - 3))
                #expect(try await again?.finished().totalBytes == 1000)
            }
            await manager.shutdown()
        }
    }
}
