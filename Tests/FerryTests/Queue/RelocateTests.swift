import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Relocation of a download's files", .timeLimit(.minutes(30)))
struct RelocateTests {
    /// Runs a body with another directory, on the same or on another file system.
    private func elsewhere(
        _ shop: Workshop, isOther: Bool = false, _ body: (String) async throws -> Void
    ) async throws {
        let path = isOther ? "/dev/shm/ferry-\(UUID().uuidString)" : shop.directory + "/else/where"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    /// Whether `/dev/shm` is a file system of its own here.
    private static let hasOther: Bool = {
        func device(_ path: String) -> UInt64? {
            (try? LocalFileSystem().status(.init(path), followingLinks: true))?.device
        }
        guard let other = device("/dev/shm"), let own = device(FileManager.default.temporaryDirectory.path) else {
            return false
        }
        return other != own && FileManager.default.isWritableFile(atPath: "/dev/shm")
    }()
    private static let places = hasOther ? [false, true] : [false]

    private func names(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    private func move(_ download: Download, to directory: String) async throws {
        try await download.moveFiles(to: directory)
    }

    @Test(
        "Relocate: a running download resumes in the new directory, and no file stays in the old one",
        arguments: places)
    func running(isOther: Bool) async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop, isOther: isOther) { place in
                let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
                let manager = shop.kept()
                let download = try await manager.download(try shop.single("/a"))
                await shop.reach(6_000_000, download)
                try await move(download, to: place)
                let file = try await download.finished()
                #expect(file.path == place + "/a")
                shop.expect(file.path, is: resource)
                #expect(shop.server.requests.last?.range == "bytes=6000000-11999999")
                #expect(shop.files.filter { $0 != "else" } == [])
                #expect(names(place) == ["a"])
                #expect(download.request.destination == .directory(place))
                let history = try await manager.history(of: download.id)
                #expect(history.contains { $0.kind == .note("moved to \(place)") })
                await manager.shutdown()
            }
        }
    }

    @Test(
        "Relocate: a paused download stays paused, and resumes in the new directory after a relaunch",
        arguments: places)
    func paused(isOther: Bool) async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop, isOther: isOther) { place in
                let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
                let first = shop.kept()
                let download = try await first.download(try shop.single("/a"))
                await shop.reach(6_000_000, download)
                try await download.pause()
                try await move(download, to: place)
                #expect(download.status.state == .paused)
                #expect(download.status.path == place + "/a")
                #expect(names(place) == ["a.part", "a.part.ferry"])
                await first.shutdown()
                let second = shop.kept()
                let again = try #require(try await second.download(id: download.id))
                #expect(again.status.path == place + "/a")
                try await again.resume()
                try await shop.expectAll([again], are: resource)
                #expect(shop.server.requests.last?.range == "bytes=6000000-11999999")
                #expect(names(place) == ["a"])
                await second.shutdown()
            }
        }
    }

    @Test("Relocate: a download without bytes starts in the new directory")
    func fresh() async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                let resource = shop.serve(["/a"])
                let manager = shop.kept()
                let download = try await manager.download(try shop.single("/a") { $0.startsPaused = true })
                try await move(download, to: place)
                try await download.resume()
                try await shop.expectAll([download], are: resource)
                #expect(names(place) == ["a"])
                await manager.shutdown()
            }
        }
    }

    @Test(
        "Relocate: the old file of a restarted download stays until the new one is complete in the new directory",
        arguments: [(400_000, true), (3_000_000, true), (3_000_000, false)])
    func restarted(size: Int64, isKept: Bool) async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                let resource = shop.serve(["/a"], size: size)
                let manager = isKept ? shop.kept() : shop.manager()
                let download = try await manager.download(try shop.single("/a"))
                try await shop.expectAll([download], are: resource)
                shop.server.script("/a", [.stall(after: size / 4)])
                try await download.restart()
                await shop.reach(size / 4, download)
                try await download.pause()
                try await move(download, to: place)
                shop.expect(shop.path("a"), is: resource)
                try await download.resume()
                #expect(try await download.finished().path == place + "/a")
                shop.expect(place + "/a", is: resource)
                #expect(shop.files.filter { $0 != "else" } == [])
                #expect(names(place) == ["a"])
                await manager.shutdown()
            }
        }
    }

    @Test("Relocate: the old file of a restarted download is deleted with the download, and kept if it was changed")
    func restartedAndRemoved() async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                let resource = shop.serve(["/a", "/b"])
                let manager = shop.kept()
                let all = try await manager.download(["/a", "/b"].map { try shop.single($0) })
                try await shop.expectAll(all, are: resource)
                for (path, download) in zip(["/a", "/b"], all) {
                    shop.server.script(path, [.stall(after: 1_000_000)])
                    try await download.restart()
                    await shop.reach(1_000_000, download)
                    try await download.pause()
                    try await move(download, to: place)
                }
                #expect(shop.files.filter { $0 != "else" } == ["a", "b"])
                try await all[0].remove(deletingFile: true)
                #expect(shop.files.filter { $0 != "else" } == ["b"])
                try Data("mine".utf8).write(to: URL(filePath: shop.path("b")))
                try await all[1].resume()
                try await shop.expectAll([all[1]], are: resource)
                #expect(shop.text("b") == "mine")
                #expect(names(place) == ["b"])
                await manager.shutdown()
            }
        }
    }

    @Test("Relocate: a directory with a zero byte is refused, and nothing is moved to the shorter path")
    func zeroByte() async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                let resource = shop.serve(["/a"])
                let manager = shop.kept()
                let download = try await manager.download(try shop.single("/a"))
                try await shop.expectAll([download], are: resource)
                let error = await #expect(throws: DownloadError.self) {
                    try await move(download, to: place + "\0/x")
                }
                #expect(error?.code == .invalidRequest)
                #expect(names(place) == [] && shop.files == ["a"])
                await manager.shutdown()
            }
        }
    }

    @Test(
        "Relocate: a completed download's file is moved, numbered there, and removable after a relaunch",
        arguments: places)
    func finished(isOther: Bool) async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop, isOther: isOther) { place in
                let resource = shop.serve(["/a"])
                let first = shop.kept()
                let download = try await first.download(try shop.single("/a"))
                _ = try await download.finished()
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: URL(filePath: place + "/a"))
                try await move(download, to: place)
                #expect(try await download.finished().path == place + "/a (1)")
                shop.expect(place + "/a (1)", is: resource)
                #expect(shop.files.filter { $0 != "else" } == [])
                await first.shutdown()
                let second = shop.kept()
                let again = try #require(try await second.download(id: download.id))
                #expect(again.status.path == place + "/a (1)")
                #expect(again.status.name == "a (1)")
                try await again.remove(deletingFile: true)
                #expect(names(place) == ["a"])
                await second.shutdown()
            }
        }
    }

    @Test("Relocate: an unacknowledged completion is reported with the new path")
    func told() async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                shop.serve(["/a"])
                let first = shop.kept()
                let waiting = first.events
                let download = try await first.download(try shop.single("/a"))
                _ = try await download.finished()
                try await move(download, to: place)
                #expect(await end(of: waiting)?.path == place + "/a")
                #expect(await end(of: first.events)?.path == place + "/a")
                await first.shutdown()
                let second = shop.kept()
                try await second.activate()
                #expect(await end(of: second.events)?.path == place + "/a")
                await second.shutdown()
            }
        }
    }

    /// The next completed download in these events.
    private func end(of events: AsyncStream<DownloadEvent>) async -> FinishedDownload? {
        for await event in events { if case .completed(let file) = event.kind { return file } }
        return nil
    }

    @Test("Relocate: a completed file that was replaced or deleted is an error, and nothing is moved")
    func replaced() async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                shop.serve(["/a"])
                let manager = shop.kept()
                let download = try await manager.download(try shop.single("/a"))
                let file = try await download.finished()
                try Data("mine".utf8).write(to: URL(filePath: file.path))
                #expect(await shop.code { try await move(download, to: place) } == .conflict)
                #expect(shop.text("a") == "mine")
                try FileManager.default.removeItem(atPath: file.path)
                #expect(await shop.code { try await move(download, to: place) } == .notFound)
                #expect(names(place) == [])
                #expect(download.status.path == file.path)
                await manager.shutdown()
            }
        }
    }

    @Test("Relocate: the same directory under any path moves no file and sends no request")
    func same() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a", "/b"], size: 12_000_000, [.stall(after: 6_000_000)])
            shop.server.always("/b", .honest)
            let link = shop.directory + "-link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: shop.directory)
            defer { try? FileManager.default.removeItem(atPath: link) }
            let manager = shop.kept()
            let done = try await manager.download(try shop.single("/b"))
            _ = try await done.finished()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(6_000_000, download)
            for place in [shop.directory, shop.directory + "/", link] {
                try await move(download, to: place)
                try await move(done, to: place)
            }
            #expect(shop.files == ["a.part", "a.part.ferry", "b"])
            #expect(shop.asked == ["/b", "/a"])
            try await download.cancel()
            await manager.shutdown()
        }
    }

    @Test("Relocate: a directory that cannot be created is an error, and the download resumes where it was")
    func impossible() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 12_000_000, [.stall(after: 6_000_000)])
            let manager = shop.kept()
            let download = try await manager.download(try shop.single("/a"))
            await shop.reach(6_000_000, download)
            try shop.write("in the way", to: "file")
            #expect(await shop.code { try await move(download, to: shop.path("file/below")) } == .disk)
            let file = try await download.finished()
            #expect(file.path == shop.path("a"))
            shop.expect(file.path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("Relocate: after a kill that follows the rename the next launch has the file's new path")
    func cut() async throws {
        try await Workshop.run { shop in
            try await elsewhere(shop) { place in
                shop.serve(["/a"])
                let first = shop.kept()
                let download = try await first.download(try shop.single("/a"))
                _ = try await download.finished()
                let store = try await #require(first.scheduler).opened()
                // The steps of a move up to the rename.
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                let file = try #require(try await store.row(download.id)?.published)
                try await store.commit([
                    .update(download.id, [.announced(file.at(place + "/a"))])
                ])
                try FileManager.default.moveItem(atPath: shop.path("a"), toPath: place + "/a")
                await first.shutdown()
                let second = shop.kept()
                let again = try #require(try await second.download(id: download.id))
                #expect(again.status.path == place + "/a")
                #expect(try await again.finished().path == place + "/a")
                try await again.remove(deletingFile: true)
                #expect(names(place) == [])
                await second.shutdown()
            }
        }
    }

    @Test("Relocate: a file that its user moves out of its root is not confined to that any more, in memory either")
    func outOfRoot() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], size: 50_000)
            let (root, place) = (shop.path("root"), shop.path("out"))
            try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
            let manager = shop.kept()
            let download = try await manager.download(
                shop.single("/a") {
                    $0.destination = .directory(root)
                    $0.root = root
                })
            _ = try await download.finished()
            #expect(download.request.root == root)
            try await download.moveFiles(to: place)
            #expect(download.request.root == nil)
            try await shop.expect(download.finished().path, is: resource)
            await manager.shutdown()
        }
    }

    @Test("Relocate: after a kill before the rename the next launch has the file's old path")
    func cutBefore() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let first = shop.kept()
            let download = try await first.download(try shop.single("/a"))
            _ = try await download.finished()
            let store = try await #require(first.scheduler).opened()
            let file = try #require(try await store.row(download.id)?.published)
            try await store.commit([
                .update(download.id, [.announced(file.at(shop.path("else/a")))])
            ])
            await first.shutdown()
            let second = shop.kept()
            let again = try #require(try await second.download(id: download.id))
            #expect(again.status.path == shop.path("a"))
            await second.shutdown()
            let third = shop.kept()
            let row = try await #require(third.scheduler).opened().row(download.id)
            #expect(row?.announced == nil)
            await third.shutdown()
        }
    }
}
