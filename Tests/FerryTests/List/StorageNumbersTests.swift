import FerryAPI
import FerryServer
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Extreme sizes in the list and its directory", .timeLimit(.minutes(30)))
struct StorageNumbersTests {
    /// Writes a journal that claims this range, beside a part file of this size.
    private func put(_ name: String, claims end: ByteCount, bytes: Int, in directory: String) throws {
        let text = #"""
            {"version":1,"id":"\#(name)","urls":["http://127.0.0.1:1/a"],"name":"\#(name)","identity":{},
            "claimed":[[0,\#(end)]],"partDevice":1,"partInode":1,"createdAt":1,"events":[]}
            """#
        let slot = JournalSlot(version: 1, sequence: 2, slotBytes: 8192, payload: Array(text.utf8)).encode()
        let journal = slot + [UInt8](repeating: 10, count: 16_384 - slot.count)
        try Data(journal).write(to: URL(filePath: "\(directory)/\(name).part.ferry"))
        try Data(repeating: 1, count: bytes).write(to: URL(filePath: "\(directory)/\(name).part"))
    }

    private func manager(_ home: AppHome) -> DownloadManager {
        var configuration = DownloadManager.Configuration.default(
            identifier: "test", directory: home.directory, stateDirectory: home.state)
        configuration.minFreeBytes = 0
        configuration.watchesNetwork = false
        return DownloadManager(configuration)
    }

    @Test("Storage: journals with the largest claims count with the sizes of their part files")
    func orphans() async throws {
        try await AppHome.run { home in
            for (index, end) in [ByteCount.max, .bound, .bound - 1, .bound - 1, .bound - 1].enumerated() {
                try put("f\(index)", claims: end, bytes: 10 * (index + 1), in: home.directory)
            }
            let manager = manager(home)
            // A new list adopts unlisted part files only on request: these are orphans.
            let report = try await manager.storage()
            #expect(report.orphanedBytes == 30 + 40 + 50)
            #expect(report.orphanedParts.count == 3)
            let adopted = try await manager.adopt(home.directory + "/f4.part")
            #expect(adopted.status.progress.completedBytes == 50)
            await manager.shutdown()
        }
    }

    @Test("Totals: rows of the largest sizes, as an earlier version kept them, are summed without a trap")
    func rows() async throws {
        try await AppHome.run { home in
            let opening = try await Catalogue.open(directory: home.state, downloads: home.directory)
            let request = DownloadRequest(
                sources: [try DownloadURL("http://127.0.0.1:1/a")], destination: .directory(home.directory))
            let states: [DownloadState] = [.paused, .waiting(.freshLink), .waiting(.credentials), .paused]
            let rows = states.enumerated().map { index, state in
                CatalogueRow(
                    id: DownloadID(rawValue: "r\(index)"), session: "test",
                    key: QueueKey(priority: .max, position: .max), state: state, name: "a", completedBytes: .max,
                    totalBytes: .max, request: request.stored, createdAt: Date())
            }
            try await opening.catalogue.commit([.insert(rows), .complete])
            await opening.catalogue.close()
            let manager = manager(home)
            let report = try await manager.storage()
            #expect(report.partBytes == .max)
            // Clients can decode the rows that they get.
            for row in try await manager.rows(rows.map(\.id)) {
                let sent = try JSONCoding.encode(manager.listed(row, asOf: manager.position))
                let read = try JSONCoding.decode(ListedDownload.self, from: sent)
                #expect(read.status.progress.totalBytes == nil)
                #expect(read.status.progress.completedBytes == .bound - 1)
            }
            // With all positions used up, adding and moving still work.
            let added = try await manager.download(request)
            try await added.pause()
            try await added.moveInList(to: .first)
            await manager.shutdown()
        }
    }

    @Test("Content-Length: 2^62 or more is refused, and a following download succeeds (A24)")
    func lengths() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/good", Resource(size: 1000, seed: 1))
            for (index, length) in ["4611686018427387904", "9223372036854775806", "9223372036854775807"].enumerated() {
                shop.server.serve("/bad\(index)", Resource(size: 1000, seed: 1))
                shop.server.always("/bad\(index)", .contentLength(length))
                let outcome = try await shop.get("/bad\(index)")
                #expect(outcome.error?.code == .refused)
                #expect(outcome.error?.message.contains("impossible Content-Length") == true)
            }
            #expect(try await shop.get("/good").file.totalBytes == 1000)
            #expect(shop.names == ["good"])
        }
    }

    @Test("Sources: more than 100 are refused, in a request and in a change")
    func sources() async throws {
        try await Workshop.run { shop in
            let manager = shop.manager()
            var request = try shop.request("/a")
            request.startsPaused = true
            let download = try await manager.download(request)
            let many = try (0...100).map { try DownloadURL("http://127.0.0.1:1/\($0)") }
            request.sources = many
            let many101 = request
            await #expect(throws: DownloadError.self) { try await manager.download(many101) }
            await #expect(throws: DownloadError.self) { try await download.change { $0.sources = many } }
            try await download.change { $0.sources = Array(many.dropLast()) }
            #expect(download.request.sources.count == 100)
            await manager.shutdown()
        }
    }
}
