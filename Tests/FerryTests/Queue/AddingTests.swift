import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Adding downloads", .timeLimit(.minutes(30)))
struct AddingTests {
    @Test("Adding: one invalid request among several lists none and sends no request")
    func allOrNone() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a", "/b", "/c"])
            try shop.write("a file", to: "file")
            let manager = shop.kept()
            let id = DownloadID(rawValue: "one")
            let bad: [(DownloadError.Code, [DownloadRequest])] = [
                (.invalidRequest, [try shop.single("/b") { $0.userInfo = ["k": String(repeating: "x", count: 4096)] }]),
                (.invalidRequest, [try shop.single("/b") { $0.label = String(repeating: "x", count: 4097) }]),
                (.invalidRequest, [DownloadRequest(sources: [], destination: .directory(shop.directory))]),
                (.invalidRequest, [try shop.single("/b") { $0.id = DownloadID(rawValue: "") }]),
                (
                    .invalidRequest,
                    [try shop.single("/b") { $0.destination = .directory(shop.directory, name: .exact("..")) }]
                ),
                (.disk, [try shop.single("/b") { $0.destination = .directory(shop.path("file")) }]),
                (.duplicate, [try shop.single("/b") { $0.id = id }, try shop.single("/c") { $0.id = id }]),
                (.duplicate, [try shop.single("/a") { $0.onDuplicate = .fail }]),
            ]
            for (code, requests) in bad {
                let all = [try shop.single("/a")] + requests
                #expect(await shop.code { _ = try await manager.download(all) } == code)
                #expect(try await manager.downloadCount == 0, "\(code)")
            }
            #expect(try await manager.download([DownloadRequest]()).isEmpty)
            #expect(shop.asked.isEmpty)
            await manager.shutdown()
        }
    }

    @Test("Adding: an identifier already in use is a duplicate error, and the listed download stays as it was")
    func listedID() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a", "/b", "/c"])
            let manager = shop.kept()
            let first = try await manager.download(
                try shop.single("/a") {
                    $0.id = DownloadID(rawValue: "one")
                    $0.startsPaused = true
                })
            let others = [try shop.single("/b"), try shop.single("/c") { $0.id = DownloadID(rawValue: "one") }]
            #expect(await shop.code { _ = try await manager.download(others) } == .duplicate)
            #expect(try await manager.downloads() == [first])
            #expect(first.request.sources.first?.path == "/a")
            #expect(shop.asked.isEmpty)
            await manager.shutdown()
        }
    }

    @Test("Adding: an identifier already in use leaves the listed download its secrets", arguments: [true, false])
    func listedSecrets(isKept: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            shop.server.always("/a", .basicAuth("ann", "hush"))
            let first = isKept ? shop.kept() : shop.manager()
            let id = DownloadID(rawValue: "one")
            _ = try await first.download(
                try shop.single("/a") {
                    $0.id = id
                    $0.credentials = Credentials(user: "ann", password: "hush")
                    $0.startsPaused = true
                })
            let other = try shop.single("/b") {
                $0.id = id
                $0.credentials = Credentials(user: "bob", password: "other")
            }
            #expect(await shop.code { _ = try await first.download(other) } == .duplicate)
            if isKept { await first.shutdown() }
            let manager = isKept ? shop.kept() : first
            let download = try #require(try await manager.download(id: id))
            try await download.resume()
            await shop.reach(download) { $0 == .waiting(.credentials) }
            #expect(download.status.state != .waiting(.credentials))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Adding: a repeated request gives the listed download, within one call too")
    func existing() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(gate)])
            let manager = shop.kept()
            let both = try await manager.download([try shop.single("/a"), try shop.single("/a")])
            #expect(both[0] == both[1])
            let again = try await manager.download(try shop.single("/a"))
            #expect(again == both[0])
            #expect(try await manager.downloadCount == 1)
            // Another directory or another name is another download.
            let other = try await manager.download(
                try shop.single("/a") { $0.destination = .directory(shop.directory, name: .exact("other")) })
            #expect(other != again)
            gate.open()
            try await shop.expectAll([again, other], are: resource)
            #expect(shop.files == ["a", "other"])
            await manager.shutdown()
        }
    }

    @Test("Adding: a repeated request is a duplicate error under the rule fail, within one call too")
    func fail() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let manager = shop.kept()
            let twice = [try shop.single("/a"), try shop.single("/a") { $0.onDuplicate = .fail }]
            #expect(await shop.code { _ = try await manager.download(twice) } == .duplicate)
            #expect(try await manager.downloadCount == 0)
            let first = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            let again = try shop.single("/a") { $0.onDuplicate = .fail }
            #expect(await shop.code { _ = try await manager.download(again) } == .duplicate)
            #expect(try await manager.downloads() == [first])
            await manager.shutdown()
        }
    }

    @Test("Adding: another download of one URL has its own file and leaves the first one's part file")
    func another() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            await shop.reach(1_000_000, first)
            try await first.pause()
            let gate = Gate()
            shop.server.script("/a", [.hold(after: 1_500_000, gate)])
            let second = try await manager.download(try shop.single("/a") { $0.onDuplicate = .addAnother })
            #expect(second != first)
            await shop.reach(1_500_000, second)
            #expect(shop.server.requests.last?.range == nil)
            #expect(first.status.bytes == 1_000_000)
            #expect(second.status.path != first.status.path)
            // A cancel of one leaves the other as it is.
            let third = try await manager.download(try shop.single("/a") { $0.onDuplicate = .addAnother })
            try await shop.expectAll([third], are: resource)
            try await second.cancel()
            gate.open()
            try await first.resume()
            try await shop.expectAll([first], are: resource)
            #expect(shop.server.requests.last?.range == "bytes=1000000-2999999")
            #expect(shop.files == ["a", (third.status.path ?? "").split(separator: "/").last.map(String.init) ?? ""])
            await manager.shutdown()
        }
    }

    @Test("Adding: another download of a completed one is fetched into its own file", arguments: [3_000_000, 20_000])
    func anotherOfCompleted(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: size)
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([first], are: resource)
            let second = try await manager.download(try shop.single("/a") { $0.onDuplicate = .addAnother })
            try await shop.expectAll([second], are: resource)
            #expect(shop.files == ["a", "a (1)"])
            #expect(shop.server.bodyBytes("/a") == 2 * size)
            try await second.remove(deletingFile: true)
            shop.expect(shop.path("a"), is: resource)
            await manager.shutdown()
        }
    }

    @Test(
        "Adding: a completed download with an unchanged file is returned without a request",
        arguments: [3_000_000, 20_000])
    func completed(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: size)
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([first], are: resource)
            let requests = shop.server.traffic.requestCount
            let again = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([again], are: resource)
            await manager.shutdown()
            // After a relaunch too.
            let next = shop.kept()
            let later = try await next.download(try shop.single("/a"))
            #expect(later.status.state == first.status.state)
            try await shop.expectAll([later], are: resource)
            #expect(shop.server.traffic.requestCount == requests)
            await next.shutdown()
        }
    }

    @Test(
        "Adding: a completed download with a missing or replaced file is fetched again beside the other file",
        arguments: [true, false])
    func fileGone(isReplaced: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept()
            let first = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([first], are: resource)
            try FileManager.default.removeItem(atPath: shop.path("a"))
            if isReplaced { try shop.write("mine", to: "a") }
            let again = try await manager.download(try shop.single("/a"))
            #expect(again == first)
            try await shop.expectAll([again], are: resource)
            #expect(shop.server.bodyBytes("/a") == 2 * resource.size)
            #expect(shop.files == (isReplaced ? ["a", "a (1)"] : ["a"]))
            if isReplaced { #expect(shop.text("a") == "mine") }
            await manager.shutdown()
        }
    }

    @Test("Adding: a repeated request for a failed or cancelled download starts it again")
    func ended() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            shop.server.always("/a", .status(503))
            let manager = shop.kept(engine: shop.engine()) { $0.maxRetries = 1 }
            let failed = try await manager.download(try shop.single("/a"))
            #expect(await shop.code { _ = try await failed.finished() } == .refused)
            shop.server.script("/a", [.stall(after: 1_000_000)])
            let second = try await manager.download(try shop.single("/a"))
            #expect(second == failed)
            await shop.reach(1_000_000, second)
            try await second.cancel()
            #expect(shop.files == [])
            let third = try await manager.download(try shop.single("/a"))
            #expect(third == failed)
            try await shop.expectAll([third], are: resource)
            #expect(try await manager.downloadCount == 1)
            await manager.shutdown()
        }
    }

    @Test("Adding: a download that starts paused sends no request before resume")
    func startsPaused() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.kept { $0.maxConcurrentDownloads = 1 }
            let paused = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
            let other = try await manager.download(try shop.single("/b"))
            try await shop.expectAll([other], are: resource)
            #expect(paused.status.state == .paused)
            #expect(shop.asked == ["/b"])
            try await paused.resume()
            try await shop.expectAll([paused], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Adding: a download with a start date holds no slot before, and starts at that date or on resume")
    func notBefore() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b", "/c"])
            let manager = shop.kept(engine: shop.engine(clock: clock)) { $0.maxConcurrentDownloads = 1 }
            let date = clock.date().addingTimeInterval(3600)
            let later = try await manager.download(
                ["/a", "/b"].map { path in try shop.single(path) { $0.notBefore = date } })
            let now = try await manager.download(
                try shop.single("/c") { $0.notBefore = Date(timeIntervalSince1970: 0) })
            #expect(later.allSatisfy { $0.status.state == .waiting(.notBefore(date)) })
            try await shop.expectAll([now], are: resource)
            #expect(shop.asked == ["/c"])
            try await later[1].resume()
            try await shop.expectAll([later[1]], are: resource)
            #expect(later[0].status.state == .waiting(.notBefore(date)))
            clock.jump(.seconds(3601))
            try await shop.expectAll([later[0]], are: resource)
            #expect(shop.asked == ["/c", "/b", "/a"])
            await manager.shutdown()
        }
    }

    @Test("Adding: a download whose start date comes because the clock is set forward starts within a minute (B11)")
    func clockSetForward() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a"])
            let manager = shop.kept(engine: shop.engine(clock: clock))
            let date = clock.date().addingTimeInterval(86_400)
            let download = try await manager.download(try shop.single("/a") { $0.notBefore = date })
            #expect(download.status.state == .waiting(.notBefore(date)))
            clock.setWall(by: 2 * 86_400)
            clock.jump(.seconds(61))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Adding: a start date is not early because the clock is set back")
    func clockSetBack() async throws {
        try await Workshop.run { shop in
            let clock = SteppedClock()
            let resource = shop.serve(["/a", "/b"])
            let manager = shop.kept(engine: shop.engine(clock: clock))
            let date = clock.date().addingTimeInterval(3600)
            let download = try await manager.download(try shop.single("/a") { $0.notBefore = date })
            clock.setWall(by: -7200)
            clock.jump(.seconds(3700))
            // A decision of the queue after that time.
            let other = try await manager.download(try shop.single("/b"))
            try await shop.expectAll([other], are: resource)
            #expect(download.status.state == .waiting(.notBefore(date)))
            #expect(shop.asked == ["/b"])
            clock.setWall(by: 7200)
            clock.jump(.seconds(61))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test(
        "Adding: the last permitted start date waits for resume, and the first one starts at once",
        arguments: [253_402_300_799.0, -62_167_219_200])
    func strangeTime(seconds: Double) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let first = shop.kept()
            let download = try await first.download(
                try shop.single("/a") { $0.notBefore = Date(timeIntervalSince1970: seconds) })
            let waits = seconds > 0
            if !waits { try await shop.expectAll([download], are: resource) }
            #expect(shop.asked.isEmpty == waits)
            await first.shutdown()
            // The stored date is one far in the future.
            let second = shop.kept()
            let again = try #require(try await second.downloads().first)
            #expect(shop.asked.isEmpty == waits)
            if waits { try await again.resume() }
            try await shop.expectAll([again], are: resource)
            await second.shutdown()
        }
    }

    @Test("Adding: identifier, label and user info up to 4 KiB are kept, after a relaunch too")
    func texts() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let info = ["key": String(repeating: "é", count: 2046), "x": ""]
            let id = DownloadID(rawValue: "my/own id")
            let manager = shop.kept()
            let download = try await manager.download(
                try shop.single("/a") {
                    $0.id = id
                    $0.label = "A film"
                    $0.userInfo = info
                    $0.startsPaused = true
                })
            #expect(download.id == id)
            #expect(try await manager.download(id: id) == download)
            await manager.shutdown()
            let next = shop.kept()
            let again = try #require(try await next.download(id: id))
            #expect(again.request.label == "A film")
            #expect(again.request.userInfo == info)
            #expect(again.status.state == .paused)
            let url = try DownloadURL(shop.server.url("/a"))
            #expect(try await next.downloads(url: url) == [again])
            await next.shutdown()
        }
    }
}
