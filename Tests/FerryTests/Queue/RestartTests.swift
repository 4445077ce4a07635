import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Restart of a completed download", .timeLimit(.minutes(30)))
struct RestartTests {
    private static let sizes: [Int64] = [300_000, 3_000_000]

    /// A completed download, and the new file that its server has now.
    private struct Completed {
        var download: Download
        var old: Resource
        var new: Resource
    }

    private func completed(
        _ shop: Workshop, _ manager: DownloadManager, size: Int64 = 3_000_000, rule: ConflictRule = .rename
    ) async throws -> Completed {
        let old = shop.serve(["/a"], size: size)
        let download = try await manager.download(try shop.single("/a") { $0.onConflict = rule })
        try await shop.expectAll([download], are: old)
        let new = Resource(size: size, seed: 2)
        shop.server.serve("/a", new)
        return Completed(download: download, old: old, new: new)
    }

    @Test(
        "Restart: the complete new file replaces the old one under every conflict rule",
        arguments: sizes, [ConflictRule.rename, .fail, .skip, .overwrite])
    func replaced(size: Int64, rule: ConflictRule) async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let done = try await completed(shop, manager, size: size, rule: rule)
            let gate = Gate()
            shop.server.script("/a", [.hold(after: size / 2, gate)])
            try await done.download.restart()
            await shop.reach(size / 2, done.download)
            shop.expect(shop.path("a"), is: done.old)
            gate.open()
            let file = try await done.download.finished()
            #expect(file.path == shop.path("a") && !file.wasAlreadyComplete)
            shop.expect(file.path, is: done.new)
            #expect(shop.files == ["a"])
            // The new file counts as the download's own.
            try await done.download.remove(deletingFile: true)
            #expect(shop.files == [])
            await manager.shutdown()
        }
    }

    @Test(
        "Restart: a file that was changed before or during it stays, and the new one gets a number",
        arguments: [false, true])
    func changed(isLate: Bool) async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let done = try await completed(shop, manager)
            if !isLate { try shop.write("mine", to: "a") }
            let gate = Gate()
            shop.server.script("/a", [.hold(after: 1_500_000, gate)])
            try await done.download.restart()
            await shop.reach(1_500_000, done.download)
            if isLate { try shop.write("mine", to: "a") }
            gate.open()
            #expect(try await done.download.finished().path == shop.path("a (1)"))
            shop.expect(shop.path("a (1)"), is: done.new)
            #expect(shop.text("a") == "mine")
            #expect(shop.files == ["a", "a (1)"])
            await manager.shutdown()
        }
    }

    @Test("Restart: a numbered file is replaced, and the user's file without a number stays", arguments: sizes)
    func numbered(size: Int64) async throws {
        try await Workshop.run { shop in
            try shop.write("mine", to: "a")
            let manager = shop.kept()
            let done = try await completed(shop, manager, size: size)
            #expect(done.download.status.name == "a (1)")
            try await done.download.restart()
            #expect(try await done.download.finished().path == shop.path("a (1)"))
            shop.expect(shop.path("a (1)"), is: done.new)
            #expect(shop.text("a") == "mine")
            #expect(shop.files == ["a", "a (1)"])
            await manager.shutdown()
        }
    }

    @Test("Restart: a user's file that was the result of the rule skip is never replaced or deleted")
    func usersOwn() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            try shop.write("mine", to: "a")
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a") { $0.onConflict = .skip })
            #expect(try await download.finished().wasAlreadyComplete)
            try await download.restart()
            _ = try await download.finished()
            #expect(shop.text("a") == "mine")
            // A removal does not delete the user's file.
            try await download.remove(deletingFile: true)
            #expect(shop.text("a") == "mine")
            _ = try await manager.download(try shop.single("/a") { $0.onConflict = .skip }).finished()
            try await manager.clear(.completed, deletingFiles: true)
            #expect(try await manager.downloadCount == 0)
            #expect(shop.text("a") == "mine")
            await manager.shutdown()
        }
    }

    @Test("Restart: removal with its file during it deletes the old and the new file", arguments: sizes)
    func removed(size: Int64) async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let done = try await completed(shop, manager, size: size)
            let gate = Gate()
            shop.server.script("/a", [.hold(after: size / 2, gate)])
            try await done.download.restart()
            await shop.reach(size / 2, done.download)
            try await done.download.remove(deletingFile: true)
            #expect(shop.files == [])
            gate.open()
            await manager.shutdown()
        }
    }

    @Test("Restart: after a relaunch it resumes and replaces the old file")
    func relaunched() async throws {
        try await Workshop.run { shop in
            let first = shop.kept()
            let done = try await completed(shop, first)
            shop.server.script("/a", [.stall(after: 1_500_000)])
            try await done.download.restart()
            await shop.reach(1_500_000, done.download)
            await first.shutdown()
            #expect(shop.files == ["a", "a.part", "a.part.ferry"])
            shop.expect(shop.path("a"), is: done.old)
            let second = shop.kept()
            let again = try #require(try await second.download(id: done.download.id))
            #expect(try await again.finished().path == shop.path("a"))
            #expect(shop.server.requests.last?.range == "bytes=1500000-2999999")
            shop.expect(shop.path("a"), is: done.new)
            #expect(shop.files == ["a"])
            await second.shutdown()
        }
    }

    @Test(
        "Restart: after a pause before the first byte the old file is not taken as complete", arguments: [false, true])
    func early(isRelaunched: Bool) async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            var manager = shop.kept()
            var download = try await manager.download(try shop.single("/a"))
            try await shop.expectAll([download], are: resource)
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            try await download.restart()
            await gate.arrived()
            try await download.pause()
            gate.open()
            if isRelaunched {
                await manager.shutdown()
                manager = shop.kept()
                download = try #require(try await manager.download(id: download.id))
            }
            try await download.resume()
            let file = try await download.finished()
            #expect(file.path == shop.path("a") && !file.wasAlreadyComplete)
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }

    @Test("Restart: cancelling it keeps the old file, and it can be started again")
    func cancelled() async throws {
        try await Workshop.run { shop in
            let manager = shop.kept()
            let done = try await completed(shop, manager)
            shop.server.script("/a", [.stall(after: 1_500_000)])
            try await done.download.restart()
            await shop.reach(1_500_000, done.download)
            try await done.download.cancel()
            #expect(shop.files == ["a"])
            shop.expect(shop.path("a"), is: done.old)
            try await done.download.restart()
            #expect(try await done.download.finished().path == shop.path("a"))
            shop.expect(shop.path("a"), is: done.new)
            #expect(shop.files == ["a"])
            await manager.shutdown()
        }
    }
}
