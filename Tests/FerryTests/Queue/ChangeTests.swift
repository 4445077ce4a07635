import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Changing a download", .timeLimit(.minutes(30)))
struct ChangeTests {
    private func url(_ shop: Workshop, _ path: String) throws -> [DownloadURL] {
        [try DownloadURL(shop.server.url(path))]
    }

    @Test("Change: a new URL of the same file during the transfer resumes with the held bytes")
    func newURL() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
            shop.server.serve("/b", Resource(size: 12_000_000, seed: 1, etag: "\"other\""))
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(6_000_000, download)
            let sources = try url(shop, "/b")
            try await download.change { $0.sources = sources }
            try await shop.expectAll([download], are: resource)
            #expect(download.request.sources == sources)
            #expect(shop.server.bodyBytes("/b") < 9_000_000)
            #expect(shop.server.traffic.requests(for: "/a").count == 1)
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Change: a new URL of another file is a conflict, and the old URL resumes with the held bytes")
    func otherFile() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
            shop.server.serve("/b", Resource(size: 12_000_000, seed: 2))
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(6_000_000, download)
            let (old, new) = (try url(shop, "/a"), try url(shop, "/b"))
            try await download.change { $0.sources = new }
            #expect(await shop.code { _ = try await download.finished() } == .conflict)
            #expect(download.status.bytes == 6_000_000)
            #expect(shop.files == ["a.part", "a.part.ferry"])
            try await download.change { $0.sources = old }
            guard case .failed = download.status.state else {
                Issue.record("\(download.status.state)")
                return
            }
            try await download.resume()
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=6000000-11999999")
            await manager.shutdown()
        }
    }

    @Test("Change: another start date stops a running download, and none lets a scheduled one run at its place")
    func startDate() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(gate)])
            shop.serve(["/b", "/c"])
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 1 }
            let all = try await manager.download(["/a", "/b", "/c"].map { try shop.single($0) })
            await gate.arrived()
            let date = clock.date().addingTimeInterval(3600)
            try await all[1].change { $0.notBefore = date }
            try await all[2].change { $0.notBefore = date }
            #expect(all[1].status.state == .waiting(.notBefore(date)))
            try await all[0].change { $0.notBefore = date }
            #expect(all[0].status.state == .waiting(.notBefore(date)))
            gate.open()
            try await all[2].change { $0.notBefore = nil }
            try await shop.expectAll([all[2]], are: resource)
            clock.jump(.seconds(3601))
            try await shop.expectAll([all[0], all[1]], are: resource)
            #expect(shop.asked == ["/a", "/c", "/a", "/b"])
            await manager.shutdown()
        }
    }

    @Test("Change: a new URL of a waiting or paused download keeps its position and state")
    func waiting() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/x"], [.hold(gate)])
            shop.serve(["/b", "/c", "/d"])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let all = try await manager.download(["/x", "/a1", "/a2", "/d"].map { try shop.single($0) })
            await gate.arrived()
            try await all[2].pause()
            let (b, c) = (try url(shop, "/b"), try url(shop, "/c"))
            try await all[1].change { $0.sources = b }
            try await all[2].change { $0.sources = c }
            #expect(all[1].status.state == .waiting(.slot))
            #expect(all[2].status.state == .paused)
            #expect(try await manager.downloads() == all)
            #expect(shop.asked == ["/x"])
            gate.open()
            try await shop.expectAll([all[0], all[1], all[3]], are: resource)
            #expect(shop.asked == ["/x", "/b", "/d"])
            try await all[2].resume()
            try await shop.expectAll([all[2]], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Change: limits, priority and texts of a running download change without a request, and are kept")
    func limits() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 3_000_000)
            let manager = shop.kept()
            let download = try await manager.download(try shop.request("/a") { $0.rateLimit = 20_000 })
            await shop.reach(1, download)
            try await download.change {
                $0.maxConnections = 1
                $0.priority = .high
                $0.label = "text"
                $0.userInfo = ["a": "b"]
                $0.network = NetworkRule(allowsMetered: false)
            }
            #expect(download.status.state == .downloading)
            #expect(download.request.maxConnections == 1)
            // At the old rate it would take minutes.
            try await download.change { $0.rateLimit = nil }
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.traffic.requests.count == 1)
            await manager.shutdown()
            let next = shop.kept()
            let again = try #require(try await next.downloads().first)
            #expect(again.request.priority == .high)
            #expect(again.request.label == "text")
            #expect(again.request.userInfo == ["a": "b"])
            #expect(again.request.network == NetworkRule(allowsMetered: false))
            #expect(again.request.rateLimit == nil)
            await next.shutdown()
        }
    }

    @Test("Change: limits and texts that change during a start apply to that start")
    func limitsAtStart() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let scheduler = try #require(manager.scheduler)
            let name = try #require(HTTPField.Name("X-Key"))
            let download = try await manager.download(
                try shop.single("/a") {
                    $0.headers[name] = "secret"
                    $0.rateLimit = 20_000
                    $0.startsPaused = true
                })
            // The run has read its limits and waits for its secrets.
            let vault = HeldVault.hold(.read, in: scheduler)
            try await download.resume()
            await vault.arrived()
            try await download.change {
                $0.rateLimit = nil
                $0.label = "text"
                $0.priority = .high
            }
            vault.open()
            // At the old rate it would take minutes.
            try await shop.expectAll([download], are: resource)
            #expect(download.request.rateLimit == nil)
            #expect(download.request.label == "text")
            #expect(download.request.priority == .high)
            #expect(shop.server.requests.map { $0.head["X-Key"] } == ["secret"])
            await manager.shutdown()
        }
    }

    @Test("Change: invalid values are refused, and the request stays as it was")
    func refused() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            let before = download.request
            #expect(await shop.code { try await download.change { $0.sources = [] } } == .invalidRequest)
            #expect(
                await shop.code {
                    try await download.change { $0.userInfo = ["a": String(repeating: "x", count: 4096)] }
                } == .invalidRequest)
            #expect(download.request == before)
            #expect(download.status.state == .paused)
            await manager.shutdown()
        }
    }

    @Test("Change: new headers are sent with the next request, which resumes")
    func headers() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, download)
            let name = try #require(HTTPField.Name("X-Key"))
            try await download.change { $0.headers[name] = "secret" }
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.requests.map { $0.head["X-Key"] } == [nil, "secret"])
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            await manager.shutdown()
        }
    }

    @Test("Change: a URL of another origin gets none of the secrets of the first (A35)")
    func secrets() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
                other.serve("/b", resource)
                let manager = shop.kept()
                let name = try #require(HTTPField.Name("X-Key"))
                let download = try await manager.download(
                    try shop.single("/a") {
                        $0.headers[name] = "secret"
                        $0.headers[.accept] = "text/x"
                        $0.credentials = Credentials(user: "ann", password: "hush")
                    })
                await shop.reach(6_000_000, download)
                #expect(shop.server.requests.first?.head["X-Key"] == "secret")
                let sources = [try DownloadURL(other.url("/b"))]
                try await download.change { $0.sources = sources }
                try await shop.expectAll([download], are: resource)
                #expect(!other.requests.isEmpty)
                for request in other.requests {
                    #expect(request.head["X-Key"] == nil)
                    #expect(request.head["Authorization"] == nil)
                    #expect(request.head["Accept"] == "text/x")
                }
                #expect(download.request.headers[name] == nil)
                #expect(download.request.credentials == nil)
                await manager.shutdown()
            }
        }
    }

    @Test("Change: a new URL at the origin of a former mirror gets none of the first origin's secrets (A35)")
    func formerMirror() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { mirror in
                let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
                mirror.serve("/m", resource)
                mirror.always("/m", .silence)
                mirror.serve("/b", resource)
                let manager = shop.kept()
                let name = try #require(HTTPField.Name("X-Key"))
                let second = try DownloadURL(mirror.url("/m"))
                let download = try await manager.download(
                    try shop.single("/a") {
                        $0.sources.append(second)
                        $0.headers[name] = "secret"
                        $0.credentials = Credentials(user: "ann", password: "hush")
                    })
                await shop.reach(6_000_000, download)
                let sources = [try DownloadURL(mirror.url("/b"))]
                try await download.change { $0.sources = sources }
                try await shop.expectAll([download], are: resource)
                #expect(!mirror.requests.isEmpty)
                for request in mirror.requests {
                    #expect(request.head["X-Key"] == nil)
                    #expect(request.head["Authorization"] == nil)
                }
                #expect(download.request.headers[name] == nil)
                #expect(download.request.credentials == nil)
                await manager.shutdown()
            }
        }
    }

    @Test(
        "Change: a download waiting for credentials holds no slot, and given credentials complete it",
        arguments: [true, false])
    func credentials(isRelaunched: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            shop.server.always("/a", .basicAuth("ann", "hush"))
            var manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            var download = try await manager.download(try shop.single("/a"))
            await shop.reach(download) { $0 == .waiting(.credentials) }
            #expect(download.status.state == .waiting(.credentials))
            let other = try await manager.download(try shop.single("/b"))
            try await shop.expectAll([other], are: resource)
            if isRelaunched {
                await manager.shutdown()
                manager = shop.kept()
                download = try #require(try await manager.downloads().first)
                #expect(download.status.state == .waiting(.credentials))
            }
            try await download.provide(credentials: Credentials(user: "ann", password: "hush"))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Change: secrets that were not kept are waited for until new headers or a URL elsewhere are given")
    func secretsNotKept() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                let resource = shop.serve(["/a", "/b"])
                other.serve("/c", resource)
                let first = shop.kept { $0.storesCredentials = false }
                let name = try #require(HTTPField.Name("X-Key"))
                _ = try await first.download(
                    ["/a", "/b"].map { path in
                        try shop.single(path) {
                            $0.headers[name] = "secret"
                            $0.startsPaused = true
                        }
                    })
                await first.shutdown()
                let manager = shop.kept { $0.storesCredentials = false }
                let all = try await manager.downloads()
                for download in all {
                    try await download.change {
                        $0.rateLimit = 1_000_000_000
                        $0.label = "text"
                    }
                    try await download.resume()
                    await shop.reach(download) { $0 == .waiting(.credentials) }
                    #expect(download.status.state == .waiting(.credentials))
                }
                #expect(shop.asked.isEmpty)
                try await all[0].change { $0.headers[name] = "again" }
                try await shop.expectAll([all[0]], are: resource)
                #expect(shop.server.requests.map { $0.head["X-Key"] } == ["again"])
                // Secrets of one origin are not needed at another.
                let sources = [try DownloadURL(other.url("/c"))]
                try await all[1].change { $0.sources = sources }
                try await all[1].resume()
                try await shop.expectAll([all[1]], are: resource)
                await manager.shutdown()
            }
        }
    }

    @Test("Change: a download waiting for a fresh link holds no slot, and a new URL resumes it")
    func freshLink() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 12_000_000)
            shop.server.script("/a", [.cut(after: 6_000_000)], then: .status(403))
            shop.serve(["/other"], size: 12_000_000)
            shop.serve(["/fresh"], size: 12_000_000)
            let manager = shop.kept(engine: shop.engine()) { $0.maxConcurrentDownloads = 1 }
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(download) { $0 == .waiting(.freshLink) }
            #expect(download.status.state == .waiting(.freshLink))
            #expect(download.status.bytes > 1_000_000)
            let other = try await manager.download(try shop.single("/other"))
            try await shop.expectAll([other], are: resource)
            let sources = try url(shop, "/fresh")
            try await download.change { $0.sources = sources }
            try await shop.expectAll([download], are: resource)
            #expect(shop.server.bodyBytes("/fresh") < 12_000_000)
            #expect(shop.files == ["a", "other"])
            await manager.shutdown()
        }
    }
}
