import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Limits of the queue", .timeLimit(.minutes(30)))
struct LimitTests {
    @Test("Concurrency limit: raising it starts the next download at once")
    func raised() async throws {
        try await Workshop.run { shop in
            let (first, second) = (Gate(), Gate())
            let resource = shop.serve(["/a"], [.hold(first)])
            shop.serve(["/b"], [.hold(second)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download([try shop.single("/a"), try shop.single("/b")])
            await first.arrived()
            #expect(downloads[1].status.state == .waiting(.slot))
            #expect(shop.asked == ["/a"])
            await manager.configure { $0.maxConcurrentDownloads = 2 }
            await second.arrived()
            #expect(downloads[0].status.state == .downloading)
            first.open()
            second.open()
            try await shop.expectAll(downloads, are: resource)
            await manager.shutdown()
        }
    }

    @Test("Concurrency limit: lowering it sends the last to join back to the queue, where they resume in order")
    func lowered() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b", "/c"], [.stall(after: 1_000_000)])
            let manager = shop.kept { $0.maxConcurrentDownloads = 3 }
            let downloads = try await manager.download(["/a", "/b", "/c"].map { try shop.single($0) })
            for download in downloads { await shop.reach(1_000_000, download) }
            await manager.configure { $0.maxConcurrentDownloads = 1 }
            for download in downloads[1...] {
                await shop.reach(download) { $0 == .waiting(.slot) }
                #expect(download.status.state == .waiting(.slot))
                #expect(download.status.bytes == 1_000_000)
                #expect(download.status.progress.connections == 0)
            }
            #expect(downloads[0].status.state == .downloading)
            #expect(shop.server.traffic.requests(for: "/a").count == 1)
            await shop.server.dropConnections()
            try await shop.expectAll(downloads, are: resource)
            #expect(shop.asked.suffix(2) == ["/b", "/c"])
            #expect(shop.server.requests.suffix(2).map(\.range) == ["bytes=1000000-2999999", "bytes=1000000-2999999"])
            await manager.shutdown()
        }
    }

    @Test("Configuration: a number that is out of bounds is replaced by the nearest permitted one")
    func bounds() async throws {
        try await Workshop.run { shop in
            let manager = shop.manager {
                $0.maxRetries = -1
                $0.retriesFailedAfter = .seconds(-5)
                $0.stallTimeout = .zero
                $0.transfer.connectTimeout = .seconds(Int64.max)
                $0.transfer.connectionsPerHost = 0
            }
            #expect(manager.configuration.maxRetries == 0)
            #expect(manager.configuration.retriesFailedAfter == .seconds(1))
            #expect(manager.configuration.stallTimeout == .milliseconds(1))
            #expect(manager.configuration.transfer.connectTimeout == .seconds(100_000_000))
            #expect(manager.configuration.transfer.connectionsPerHost == 1)
            await manager.configure { $0.stallTimeout = .seconds(Int64.max) }
            #expect(manager.configuration.stallTimeout == .seconds(100_000_000))
            await manager.shutdown()
        }
    }

    @Test("Request: more than 1000 connections count as 1000, also after a change")
    func mostConnections() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let request = try shop.single("/a") {
                $0.startsPaused = true
                $0.maxConnections = 5000
            }
            let download = try await manager.download(request)
            #expect(download.request.maxConnections == 1000)
            try await download.change { $0.maxConnections = 6000 }
            #expect(download.request.maxConnections == 1000)
            await manager.shutdown()
        }
    }

    @Test("Concurrency limit: a value below one becomes one")
    func least() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            await manager.configure { $0.maxConcurrentDownloads = -3 }
            #expect(manager.configuration.maxConcurrentDownloads == 1)
            let download = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Concurrency limit: many downloads never exceed it, and all complete", arguments: [1, 3])
    func many(limit: Int) async throws {
        try await Workshop.run { shop in
            let paths = (10..<34).map { "/\($0)" }
            let gate = Gate()
            let resource = shop.serve(paths, size: 60_000, [.hold(gate)])
            let manager = shop.kept { $0.maxConcurrentDownloads = limit }
            let downloads = try await manager.download(paths.map { try shop.single($0) })
            await gate.arrived(limit)
            #expect(downloads.count { $0.status.state == .waiting(.slot) } == paths.count - limit)
            gate.open()
            try await shop.expectAll(downloads, are: resource)
            #expect(shop.server.traffic.peakRequests == limit)
            #expect(Set(shop.asked) == Set(paths))
            if limit == 1 { #expect(shop.asked == paths) }
            await manager.shutdown()
        }
    }

    @Test("Concurrency limit: a download that waits for a retry holds no slot and keeps its position (A28)")
    func backOff() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let gate = Gate()
            let resource = shop.serve(["/a"], [.status(503, retryAfter: "3000")])
            shop.serve(["/b"], [.hold(gate)])
            shop.serve(["/c"])
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download(
                [shop.elsewhere("/a")] + ["/b", "/c"].map { try shop.single($0) })
            await gate.arrived()
            await shop.reach(downloads[0]) { if case .waiting(.retry) = $0 { true } else { false } }
            guard case .waiting(.retry(let date)) = downloads[0].status.state else {
                Issue.record("\(downloads[0].status.state)")
                return
            }
            #expect(date.timeIntervalSince(clock.date()) > 2000)
            #expect(try await manager.downloads().map(\.id) == downloads.map(\.id))
            // The retry is due and starts before the next download.
            clock.jump(.seconds(3001))
            gate.open()
            try await shop.expectAll(downloads, are: resource)
            #expect(shop.asked == ["/a", "/b", "/a", "/c"])
            await manager.shutdown()
        }
    }

    @Test("Retry: resume of a download that waits for its next attempt tries at once")
    func retryNow() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let gate = Gate()
            let resource = shop.serve(["/a"], [.status(503, retryAfter: "3000")])
            shop.serve(["/b"], [.hold(gate)])
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 1 }
            let downloads = try await manager.download([shop.elsewhere("/a"), shop.single("/b")])
            await gate.arrived()
            await shop.reach(downloads[0]) { if case .waiting(.retry) = $0 { true } else { false } }
            // The resume makes the retry due before its date.
            try await downloads[0].resume()
            #expect(shop.asked == ["/a", "/b"])
            gate.open()
            try await shop.expectAll(downloads, are: resource)
            #expect(shop.asked == ["/a", "/b", "/a"])
            await manager.shutdown()
        }
    }

    @Test("Connections per host: the limit applies to all downloads together, and can be raised while they run")
    func perHost() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let paths = (0..<6).map { "/\($0)" }
            let resource = shop.serve(paths, [.hold(gate)])
            let manager = shop.kept {
                $0.maxConcurrentDownloads = 6
                $0.transfer.connectionsPerHost = 2
            }
            let downloads = try await manager.download(paths.map { try shop.single($0) })
            await gate.arrived(2)
            let scheduler = try #require(manager.scheduler)
            let hosts = scheduler.engine.environment(for: manager.configuration).hosts
            let origin = try DownloadURL(shop.server.url("/0")).origin
            #expect(hosts.count(origin) == 2)
            #expect(shop.server.traffic.peakRequests == 2)
            await manager.configure { $0.transfer.connectionsPerHost = 4 }
            await gate.arrived(4)
            #expect(shop.server.traffic.peakRequests == 4)
            gate.open()
            try await shop.expectAll(downloads, are: resource)
            #expect(shop.server.traffic.peakRequests == 4)
            await manager.shutdown()
        }
    }

    enum Rate: CaseIterable { case ofAll, ofEach, changed }

    /// Holds on a busy machine: bytes are compared with the time that they took. `make bench` shows that the rate is
    /// not much lower than the limit.
    @Test(
        "Rate limit: bytes never exceed rate times time, for one download, for all, and after a change",
        arguments: Rate.allCases)
    func rate(_ rate: Rate) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"], size: 1_500_000)
            let transport = CountingTransport(HTTPTransport(TransferSettings()))
            let clock = ContinuousClock()
            let manager = shop.kept(engine: shop.engine(transport: transport)) {
                $0.rateLimit = rate == .ofEach ? nil : rate == .changed ? 10_000 : 1_000_000
            }
            var (start, before) = (clock.now, 0)
            let downloads = try await manager.download(
                ["/a", "/b"].map { path in
                    try shop.single(path) { $0.rateLimit = rate == .ofEach ? 500_000 : nil }
                })
            if rate == .changed {
                for download in downloads { await shop.reach(1, download) }
                (start, before) = (clock.now, transport.bodyBytes)
                await manager.configure { $0.rateLimit = 1_000_000 }
            }
            // With one piece per connection beyond its share, and the burst after an idle time.
            func most() -> Double { 1_000_000 * (clock.now - start).seconds + 200_000 }
            while downloads.contains(where: { !$0.status.state.isFinal }) {
                let bytes = Double(transport.bodyBytes - before)
                let isKept = bytes <= most()
                #expect(isKept, "\(bytes)")
                if !isKept { break }
                try await clock.sleep(for: .milliseconds(20))
            }
            try await shop.expectAll(downloads, are: resource)
            #expect(Double(transport.bodyBytes - before) <= most())
            await manager.shutdown()
        }
    }
}
