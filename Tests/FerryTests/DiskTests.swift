import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Disk errors", .timeLimit(.minutes(30)))
struct DiskTests {
    private func isPart(_ path: String) -> Bool { path.hasSuffix(".part") }

    @Test(
        "Disk: after one EIO the part file is opened again and unsynced bytes are fetched again (B4)",
        arguments: [FileError.Operation.sync, .write])
    func once(operation: FileError.Operation) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 80_000_000)
            shop.server.serve("/a", resource)
            let failures = Atomic(0)
            let disk = FaultyFileSystem { what, path in
                guard what == operation, path.string.hasSuffix("/a.part") else { return nil }
                return failures.add(1, ordering: .relaxed).oldValue == 0 ? .io : nil
            }
            let outcome = try await shop.get("/a", engine: shop.engine(fileSystem: disk))
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.names == ["a"])
            #expect(
                outcome.events.contains { if case .note(let text) = $0 { text.contains("reopened") } else { false } }
            )
        }
    }

    @Test("Disk: EIO at each sync ends the download, and no unsynced byte is claimed")
    func always() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 80_000_000)
            shop.server.serve("/a", resource)
            let disk = FaultyFileSystem { what, path in
                what == .sync && path.string.hasSuffix("/a.part") ? .io : nil
            }
            let outcome = try await shop.get("/a", engine: shop.engine(fileSystem: disk))
            #expect(outcome.error?.code == .disk)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            // Without a sync no byte may be claimed.
            let next = try await shop.get("/a")
            try shop.expect(next.file.path, is: resource)
            #expect(next.resumedAt == nil)
        }
    }

    @Test("Disk: a full disk ends the download with that error, and the next run resumes (B3)")
    func full() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            let writes = Atomic(0)
            let disk = FaultyFileSystem { what, path in
                guard what == .write, path.string.hasSuffix("/a.part") else { return nil }
                return writes.add(1, ordering: .relaxed).oldValue > 20 ? .noSpace : nil
            }
            let outcome = try await shop.get("/a", engine: shop.engine(fileSystem: disk))
            #expect(outcome.error?.code == .diskFull)
            #expect(shop.names == ["a.part", "a.part.ferry"])
            let next = try await shop.get("/a")
            try shop.expect(next.file.path, is: resource)
            #expect((next.resumedAt ?? 0) > 0)
        }
    }

    @Test("Disk: a known size that does not fit is a disk-full error, and no file is left (B3)")
    func fullBefore() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            let disk = FaultyFileSystem { what, _ in what == .allocate ? .noSpace : nil }
            let outcome = try await shop.get("/a", engine: shop.engine(fileSystem: disk))
            #expect(outcome.error?.code == .diskFull)
            #expect(shop.names == [])
        }
    }

    @Test("Disk: an endless body stops at the minimum of free space (A29)")
    func floor() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 1000))
            shop.server.always("/a", .endlessBody(chunked: true).and(.rate(2_000_000)))
            let checks = Atomic(0)
            let disk = FaultyFileSystem { what, _ in
                // The first check is made before the transfer.
                what == .measureSpace && checks.add(1, ordering: .relaxed).oldValue > 0 ? .noSpace : nil
            }
            let outcome = try await shop.get("/a", engine: shop.engine(fileSystem: disk), { $0.minFreeBytes = 1 })
            #expect(outcome.error?.code == .diskFull)
            #expect(!shop.names.contains("a"))
        }
    }

    @Test("Part file: a part file deleted during the download is an error and never published (B6)")
    func deleted() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Resource(size: 20_000_000))
            shop.server.script("/a", [.hold(after: 5_000_000, gate)])
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(5_000_000, download)
            try FileManager.default.removeItem(atPath: shop.path("a.part"))
            gate.open()
            await #expect {
                _ = try await download.finished()
            } throws: {
                ($0 as? DownloadError)?.suggestionPhrase?.key == .continueWithRest
            }
            // No byte is left.
            #expect(download.status.progress.completedBytes == 0)
            #expect(download.status.progress.totalBytes == 20_000_000)
            await manager.shutdown()
            #expect(!shop.names.contains("a"))
        }
    }

    @Test("Part file: of one that was deleted before a pause no byte is shown, and no checkpoint is mentioned (B6)")
    func deletedBeforePause() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Resource(size: 20_000_000))
            shop.server.script("/a", [.hold(after: 5_000_000, gate)])
            let manager = shop.manager()
            let events = manager.events
            let download = try await manager.download(try shop.request("/a") { $0.maxConnections = 1 })
            await shop.reach(5_000_000, download)
            try FileManager.default.removeItem(atPath: shop.path("a.part"))
            try await download.pause()
            #expect(download.status.state == .paused && download.status.progress.completedBytes == 0)
            gate.open()
            await manager.shutdown()
            var notes: [String] = []
            for await event in events { if case .note(let note) = event.kind { notes.append(note) } }
            #expect(!notes.contains { $0.contains("checkpoint") }, "\(notes)")
        }
    }

    @Test("Part file: after a truncation only bytes before it are resumed, also when it grew again (B6)")
    func shortened() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 20_000_000)
            let handle = try FileHandle(forUpdating: URL(filePath: shop.path("a.part")))
            try handle.truncate(atOffset: 8_000_000)
            try handle.close()
            // A run that ends before its first byte; then the part file gets its old length back.
            let gate = Gate()
            shop.server.script("/a", [], then: .hold(gate))
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a"))
            await gate.arrived()
            _ = download
            await manager.shutdown()
            gate.open()
            shop.server.always("/a", .honest)
            let again = try FileHandle(forUpdating: URL(filePath: shop.path("a.part")))
            try again.truncate(atOffset: 40_000_000)
            try again.close()
            let outcome = try await shop.get("/a")
            try shop.expect(outcome.file.path, is: resource)
            #expect((outcome.resumedAt ?? .max) <= 8_000_000)
        }
    }
}
