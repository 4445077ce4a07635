import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Worked example of the queue", .timeLimit(.minutes(30)))
struct WorkedExampleTests {
    @Test("Concurrency limit: from 5 to 2 the last to join wait, and the first of those runs next")
    func example() async throws {
        try await Workshop.run { shop in
            let names = ["08", "09", "10", "11", "12"]
            var second: [String: Gate] = [:]
            var third: [String: Gate] = [:]
            let resource = Resource(size: 3_000_000)
            for name in names {
                let gates = (Gate(), Gate())
                (second[name], third[name]) = gates
                shop.server.serve("/" + name, resource)
                shop.server.script("/" + name, [.stall(after: 1_000_000), .hold(gates.0), .hold(gates.1)])
            }
            let manager = shop.kept { $0.maxConcurrentDownloads = 5 }
            let downloads = try await manager.download(
                try names.map { name in try shop.single("/" + name) { $0.id = DownloadID(rawValue: name) } })
            let task = Dictionary(uniqueKeysWithValues: zip(names, downloads))

            for download in downloads { await shop.reach(1_000_000, download) }
            #expect(downloads.allSatisfy { $0.status.state == .downloading })
            try await manager.pauseAll()
            #expect(downloads.allSatisfy { $0.status.state == .paused && $0.status.bytes == 1_000_000 })

            for name in ["10", "11", "12", "08", "09"] { try await #require(task[name]).resume() }
            for name in names { await second[name]?.arrived() }
            #expect(try await manager.downloads().map(\.id.rawValue) == ["10", "11", "12", "08", "09"])

            await manager.configure { $0.maxConcurrentDownloads = 2 }
            for name in ["12", "08", "09"] {
                let download = try #require(task[name])
                await shop.reach(download) { $0 == .waiting(.slot) }
                #expect(download.status.state == .waiting(.slot))
                #expect(download.status.bytes == 1_000_000)
            }
            #expect(task["10"]?.status.state == .downloading)
            #expect(task["11"]?.status.state == .downloading)

            second["10"]?.open()
            _ = try await task["10"]?.finished()
            await third["12"]?.arrived()
            for name in ["08", "09"] {
                #expect(task[name]?.status.state == .waiting(.slot))
                #expect(shop.server.traffic.requests(for: "/" + name).count == 2)
            }
            #expect(
                shop.server.traffic.requests(for: "/12").map(\.range) == [
                    nil, "bytes=1000000-2999999", "bytes=1000000-2999999",
                ])

            for gate in Array(second.values) + Array(third.values) { gate.open() }
            try await shop.expectAll(downloads, are: resource)
            let later = shop.asked.suffix(2)
            #expect(Set(later) == ["/08", "/09"])
            await manager.shutdown()
        }
    }
}
