import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Reading a download while it is fetched", .timeLimit(.minutes(30)))
struct ContentTests {
    /// The first bytes of the ranges that were asked for at a path, in order.
    private func starts(_ shop: Workshop, _ path: String) -> [Int64] {
        shop.server.requests.filter { $0.path == path }.map { request in
            guard let field = request.head["Range"], let start = field.dropFirst(6).split(separator: "-").first else {
                return 0
            }
            return Int64(start) ?? -1
        }
    }

    @Test("Content: the end of a large file is read while the first response is held", arguments: [1, 4])
    func farEnd(connections: Int) async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let size: Int64 = 40_000_000
            let resource = shop.serve(["/a"], size: size)
            shop.server.always("/a", .hold(after: 2_000_000, gate))
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = connections })
            let content = download.content
            let description = try await content.description()
            #expect(description.size == size)
            #expect(description.entityTag == resource.etag)
            #expect(!description.isComplete)
            let end = try await read(content.bytes(in: size - 65536..<size, of: description))
            #expect(end == resource.bytes(size - 65536..<size))
            // Its range was asked for, while each response was held after its first bytes.
            #expect(starts(shop, "/a").contains(size - 65536))
            #expect(download.status.bytes < size / 2)
            gate.open()
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Content: several readers at several places, and one of the whole file, get the right bytes")
    func severalReaders() async throws {
        try await Workshop.run { shop in
            let size: Int64 = 24_000_000
            let resource = shop.serve(["/a"], size: size)
            shop.server.setConnectionRate(8_000_000)
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for start in stride(from: Int64(1_000_000), to: size, by: 4_000_000) {
                    group.addTask {
                        let range = start..<min(size, start + 700_001)
                        let part = try await read(download.content.bytes(in: range))
                        #expect(part == resource.bytes(range))
                    }
                }
                group.addTask {
                    let whole = try await read(download.content.bytes())
                    #expect(whole == resource.bytes(0..<size))
                    // The end is handed out when the file is complete.
                    if case .completed = download.status.state {} else { Issue.record("read before the end") }
                }
                try await group.waitForAll()
            }
            let after = try await read(download.content.bytes(in: size - 10..<size + 10))
            #expect(after == resource.bytes(size - 10..<size))
            #expect(try await read(download.content.bytes(in: size..<size + 10)) == [])
            await manager.shutdown()
        }
    }

    @Test("Content: a small file and a finished file are read whole, and a reader outlives the publication")
    func smallAndFinished() async throws {
        try await Workshop.run { shop in
            let small = shop.serve(["/s"], size: 5000)
            let gate = Gate()
            let large = shop.serve(["/l"], size: 3_000_000, [.hold(after: 2_500_000, gate)])
            let manager = shop.manager()
            let one = try await manager.download(try shop.single("/s"))
            #expect(try await read(one.content.bytes()) == small.bytes(0..<5000))
            let description = try await one.content.description()
            #expect(description.isComplete)
            #expect(description.entityTag == small.etag)
            let two = try await manager.download(try shop.single("/l"))
            var iterator = two.content.bytes().makeAsyncIterator()
            var all = try await iterator.next() ?? []
            gate.open()
            _ = try await two.finished()
            while let piece = try await iterator.next() { all += piece }
            #expect(all == large.bytes(0..<3_000_000))
            await manager.shutdown()
        }
    }

    @Test("Content: a slow small file is read from the disk before it is complete")
    func slowSmall() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/s"], size: 500_000, [.hold(after: 300_000, gate)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.single("/s"))
            #expect(try await read(download.content.bytes(in: 0..<200_000)) == resource.bytes(0..<200_000))
            gate.open()
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Content: a reader goes on after a pause of another run's length, from the same part file")
    func laterRun() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.single("/a"))
            let content = download.content
            let description = try await content.description()
            #expect(try await read(content.bytes(in: 0..<500_000, of: description)) == resource.bytes(0..<500_000))
            try await download.pause()
            try await download.resume()
            let rest = try await read(content.bytes(in: 500_000..<3_000_000, of: description))
            #expect(rest == resource.bytes(500_000..<3_000_000))
            await manager.shutdown()
        }
    }

    @Test(
        "Content: when received bytes do not match their Content-Digest, the reader ends, and a new one gets the file",
        arguments: [false, true])
    func wrongContentDigest(isComplete: Bool) async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.all(.wrongContentDigest, .hold(after: 1_000_000, gate))])
            let manager = shop.manager()
            let download = try await manager.download(try shop.single("/a"))
            var iterator = download.content.bytes(in: 0..<3_000_000).makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first == resource.bytes(0..<Int64(first.count)))
            let driver = try #require(download.live.driver)
            gate.open()
            try await eventually {
                driver.transfer.readers.refuted > 0
            }
            if isComplete { _ = try await download.finished() }
            #expect(await shop.code { _ = try await iterator.next() } == .checksum)
            #expect(try await read(download.content.bytes()) == resource.bytes(0..<3_000_000))
            await manager.shutdown()
        }
    }

    @Test("Content: a server without ranges, and one without a length, are read in order")
    func inOrder() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let cases: [(String, [Behaviour], Behaviour, [Int64])] = [
                // The range is asked for with and without If-Range; the first response goes on.
                ("/a", [.all(.ignoreRange, .hold(after: 1_000_000, gate))], .ignoreRange, [0, 2_900_000, 2_900_000]),
                ("/b", [], .all(.ignoreRange, .chunked()), [0]),
            ]
            for (path, script, then, expected) in cases {
                let resource = shop.serve([path])
                shop.server.script(path, script, then: then)
                let manager = shop.manager()
                let download = try await manager.download(try shop.request(path) { $0.maxConnections = 2 })
                let range: Range<Int64> = 2_900_000..<3_000_000
                async let part = read(download.content.bytes(in: range))
                try await shop.server.waitFor { $0.requests.count { $0.path == path } == expected.count }
                gate.open()
                #expect(try await part == resource.bytes(range))
                #expect(try await read(download.content.bytes()) == resource.bytes(0..<3_000_000))
                try await shop.expectAll([download], are: resource)
                // Where a response takes two seconds, its range is asked for again, of the held one the rest.
                let starts = starts(shop, path)
                #expect(starts.starts(with: expected), "\(starts)")
                #expect(Set(starts).subtracting(expected).isSubset(of: [1_000_000]), "\(starts)")
                await manager.shutdown()
            }
        }
    }

    @Test("Content: cancelled readers leave nothing behind, and waiting ones end")
    func cancelled() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], size: 3_000_000, [])
            shop.server.script("/a", [.hold(after: 1_000_000, gate)], then: .hold(gate))
            let manager = shop.manager()
            let download = try await manager.download(try shop.single("/a"))
            _ = try await download.content.description()
            let tasks = (0..<20).map { _ in
                Task { for try await _ in download.content.bytes(in: 1_500_000..<2_000_000) {} }
            }
            let driver = try #require(download.live.driver)
            try await eventually { driver.transfer.readers.all == 20 }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            #expect(driver.transfer.readers.all == 0)
            gate.open()
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Content: a reader of a queued download waits, and does not change the order")
    func queued() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a", "/b", "/c"])
            shop.server.always("/a", .hold(gate))
            let manager = shop.manager { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download([
                try shop.single("/a"), try shop.single("/b"), try shop.single("/c"),
            ])
            await gate.arrived()
            async let last = read(downloads[2].content.bytes())
            gate.open()
            #expect(try await last == resource.bytes(0..<3_000_000))
            #expect(shop.asked == ["/a", "/b", "/c"])
            await manager.shutdown()
        }
    }
}
