import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("The door to the file system", .timeLimit(.minutes(30)))
struct SchedulerFileIOTests {
    /// Runs `body` in a task of the main actor that has been cancelled.
    @MainActor private func cancelled(
        _ body: @escaping @MainActor @Sendable () async throws -> Void
    ) async throws {
        let task = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await body()
        }
        try await task.value
    }

    @Test("DownloadManager: moving, deleting and taking resume data call files on file threads, in cancelled tasks too")
    func actions() async throws {
        try await Workshop.run { shop in
            let log = ThreadLog()
            let engine = shop.engine(fileSystem: FaultyFileSystem(.none, enter: { log.note() }))
            let manager = shop.kept(engine: engine)
            let resource = Resource(size: 3_000_000)
            for path in ["/a", "/b"] { shop.server.serve(path, resource) }
            // The second stall keeps it running after the move.
            shop.server.script("/b", [.stall(after: 1_000_000), .stall(after: 1000)])
            let place = shop.directory + "/else"

            let finished = try await manager.download(try shop.request("/a"))
            _ = try await finished.finished()
            try await cancelled { try await finished.moveFiles(to: place) }
            shop.expect(place + "/a", is: resource)
            try await cancelled { try await finished.remove(deletingFile: true) }
            #expect(!FileManager.default.fileExists(atPath: place + "/a"))

            let running = try await manager.download(try shop.request("/b") { $0.maxConnections = 1 })
            await shop.reach(1_000_000, running)
            try await cancelled { try await running.moveFiles(to: place) }
            try await cancelled { _ = try await manager.storage() }
            try await cancelled { _ = try await running.cancelByProducingResumeData() }
            await manager.shutdown()
            #expect(Set(log.names.keys) == ["ferry-io"])
        }
    }
}
