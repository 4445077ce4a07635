import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("File name already in use (A42)", .timeLimit(.minutes(30)))
struct ConflictTests {
    static let sizes: [Int64] = [10_000, 3_000_000]

    @Test("Conflict rule rename: with its name in use the file gets the next number", arguments: sizes)
    func rename(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a.bin", resource)
            try shop.write("mine", to: "a.bin")
            let file = try await shop.get("/a.bin").file
            #expect(file.path == shop.path("a (1).bin"))
            shop.expect(file.path, is: resource)
            #expect(shop.names == ["a (1).bin", "a.bin"])
            #expect(shop.text("a.bin") == "mine")
        }
    }

    @Test("Conflict rule fail: a name in use is a conflict error, and no file is changed", arguments: sizes)
    func fail(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: size))
            try shop.write("mine", to: "a.bin")
            let outcome = try await shop.get("/a.bin", { _ in }, { $0.onConflict = .fail })
            #expect(outcome.error?.code == .conflict)
            #expect(shop.names == ["a.bin"])
            #expect(shop.text("a.bin") == "mine")
        }
    }

    @Test(
        "Conflict rule skip: the existing file is the result, also when only the server knows the name",
        arguments: sizes, [false, true])
    func skip(size: Int64, isNamedByServer: Bool) async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: size)
            if isNamedByServer { resource.contentDisposition = "attachment; filename=\"a.bin\"" }
            let path = isNamedByServer ? "/get?id=1" : "/a.bin"
            shop.server.serve(path, resource)
            try shop.write("mine", to: "a.bin")
            let file = try await shop.get(path, { _ in }, { $0.onConflict = .skip }).file
            #expect(file.wasAlreadyComplete)
            #expect(file.path == shop.path("a.bin"))
            #expect(file.totalBytes == 4)
            #expect(shop.names == ["a.bin"])
            #expect(shop.text("a.bin") == "mine")
        }
    }

    @Test("Conflict rule overwrite: the existing file is replaced by the whole new one", arguments: sizes)
    func overwrite(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a.bin", resource)
            try shop.write("mine", to: "a.bin")
            let file = try await shop.get("/a.bin", { _ in }, { $0.onConflict = .overwrite }).file
            #expect(file.path == shop.path("a.bin"))
            shop.expect(file.path, is: resource)
            #expect(shop.names == ["a.bin"])
        }
    }

    @Test("Conflict rule overwrite: a directory under the name is a conflict error and stays")
    func directory() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 10_000))
            try FileManager.default.createDirectory(atPath: shop.path("a"), withIntermediateDirectories: false)
            let outcome = try await shop.get("/a", { _ in }, { $0.onConflict = .overwrite })
            #expect(outcome.error?.code == .conflict)
            #expect(shop.names == ["a"])
        }
    }
}

@Suite("File names", .timeLimit(.minutes(30)))
struct NameTests {
    @Test("File name: two requests for one destination file get two names while the first is under way")
    func sameTarget() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/x", Resource(size: 3_000_000, seed: 1))
            shop.server.serve("/y", Resource(size: 3_000_000, seed: 2))
            shop.server.script("/x", [.stall(after: 1_500_000)])
            let manager = shop.manager()
            let target = shop.path("out.bin")
            let first = try await manager.download(try shop.request("/x") { $0.destination = .file(target) })
            await shop.reach(1_500_000, first)
            let second = try await manager.download(try shop.request("/y") { $0.destination = .file(target) })
            let file = try await second.finished()
            #expect(file.path == shop.path("out (1).bin"))
            shop.expect(file.path, is: Resource(size: 3_000_000, seed: 2))
            try await first.pause()
            try await first.resume()
            try shop.expect(await first.finished().path, is: Resource(size: 3_000_000, seed: 1))
            await manager.shutdown()
            #expect(shop.names == ["out (1).bin", "out.bin"])
        }
    }

    @Test("File name: the same request in a second manager is a conflict while the first is under way")
    func sameRequest() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/x", Resource(size: 3_000_000))
            shop.server.script("/x", [.stall(after: 1_500_000)])
            let manager = shop.manager()
            let first = try await manager.download(try shop.request("/x"))
            await shop.reach(1_500_000, first)
            let second = try await shop.get("/x")
            #expect(second.error?.code == .conflict)
            try await first.cancel()
            await manager.shutdown()
            #expect(shop.names == [])
        }
    }

    @Test(
        "File name: `foo` and `foo.part` downloaded at the same time get two files with their own bytes",
        arguments: [[0, 1], [1, 0]])
    func fooAndPart(order: [Int]) async throws {
        try await Workshop.run { shop in
            let names = ["/foo", "/foo.part"]
            let gate = Gate()
            for (index, name) in names.enumerated() {
                shop.server.serve(name, Resource(size: 3_000_000, seed: UInt64(index)))
                shop.server.script(name, [.hold(after: 1_000_000, gate)])
            }
            let manager = shop.manager()
            var downloads: [(Int, Download)] = []
            for index in order {
                let download = try await manager.download(try shop.request(names[index]) { $0.maxConnections = 1 })
                await shop.reach(1_000_000, download)
                downloads.append((index, download))
            }
            gate.open()
            var paths: Set<String> = []
            for (index, download) in downloads {
                let file = try await download.finished()
                shop.expect(file.path, is: Resource(size: 3_000_000, seed: UInt64(index)))
                paths.insert(file.path)
            }
            await manager.shutdown()
            #expect(paths.count == 2)
            #expect(shop.names.count == 2)
        }
    }

    @Test("File name: a numbered name is kept when the changed file is fetched from the start")
    func restartKeepsName() async throws {
        try await Workshop.run { shop in
            try shop.write("mine", to: "a.bin")
            shop.server.serve("/a.bin", Resource(size: 40_000_000))
            try await shop.interrupt("/a.bin", after: 5_000_000)
            #expect(shop.names == ["a (1).bin.part", "a (1).bin.part.ferry", "a.bin"])
            // A small file is published from memory.
            let new = Resource(size: 10_000, seed: 4)
            shop.server.serve("/a.bin", new)
            let file = try await shop.get("/a.bin").file
            #expect(file.path == shop.path("a (1).bin"))
            shop.expect(file.path, is: new)
            #expect(shop.names == ["a (1).bin", "a.bin"])
        }
    }

    @Test("File name: the lock of a published file does not block another download of its old part name")
    func renamedLock() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            let first = try await shop.get("/a").file
            // A published file stays locked while it is open; its part name is free again.
            let second = try await shop.get("/a", { _ in }, { $0.destination = .file(shop.path("a.part")) })
            #expect(try second.file.path == shop.path("a.part"))
            shop.expect(first.path, is: resource)
            try shop.expect(second.file.path, is: resource)
        }
    }
}
