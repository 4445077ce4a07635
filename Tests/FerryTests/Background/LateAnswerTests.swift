import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient

/// Events and responses arrive over two connections, in any order: a handle must show the newest state in each of them.
@Suite("A daemon whose event overtakes its answer", .timeLimit(.minutes(30)))
struct LateAnswerTests {
    private static let id = DownloadID(rawValue: "one")
    private static let source = "http://127.0.0.1/a"

    /// The download in one state, as the daemon describes it.
    private static func listed(_ state: DownloadState, asOf position: UInt64) -> ListedDownload {
        let sources = [source].compactMap { try? DownloadURL($0) }
        let request = DownloadRequest(sources: sources, destination: .directory("/tmp"))
        var listed = ListedDownload(
            status: DownloadStatus(id: id, state: state, progress: DownloadProgress(), name: "a"), session: "test",
            url: source, addedAt: Date(timeIntervalSince1970: 0))
        let isOver = state == .completed(.single)
        listed.handle = HandleBody(
            finished: isOver ? FinishedDownload(path: "/tmp/a", totalBytes: 1, proof: .single) : nil,
            request: request)
        listed.asOf = position
        return listed
    }

    private static let snapshot = StreamEvent.reset(
        StreamEvent.Snapshot(
            items: [], total: 0, settings: SettingsBody(scope: "daemon", directory: "/tmp"),
            network: NetworkSnapshot.assumed.status))

    /// The responses that are the same in all tests.
    private static func common(_ request: String, _ daemon: ScriptedDaemon) throws -> Any? {
        switch request {
        case "GET /api/v1": return Greeting(version: "1", pid: 1, session: "test", boot: "boot")
        case "POST /api/v1/sessions": return SessionBody(identifier: "test", directory: "/tmp")
        case "GET /api/v1/events": return try ScriptedDaemon.stream([snapshot, .upToDate])
        case "GET /api/v1/downloads": return DownloadPage(items: [], total: 0)
        case "GET /api/v1/sessions": return SessionItems([])
        default: return [String: String]()
        }
    }

    /// Runs a body with a manager of a scripted daemon.
    private func run(
        _ answers: @escaping ScriptedDaemon.Answers, _ body: (DownloadManager, ScriptedDaemon) async throws -> Void
    ) async throws {
        try await ScriptedDaemon.answering(answers) { socket, daemon in
            let place = DaemonAddress.test(socket)
            let manager = DownloadManager(DownloadManager.Configuration(daemon: place))
            try await body(manager, daemon)
            await manager.shutdown()
        }
    }

    /// Returns once the manager has read an event about the download.
    private func readsEvent(_ changes: ListChanges) async {
        for await change in changes where change.changed.contains(Self.id) || change.removed.contains(Self.id) {
            return
        }
    }

    private func finish(_ download: Download, _ daemon: ScriptedDaemon) async throws -> FinishedDownload {
        try await notForever("the end", seen: { "\(download.status)\n\(daemon.asked)" }) {
            try await download.finished()
        }
    }

    @Test("RemoteSession: the snapshot that begins a stream has no rows, since those are read that are needed")
    func withoutRows() async throws {
        try await run { request, daemon in
            try Self.common(request, daemon)
        } _: { manager, daemon in
            try await manager.activate()
            let streams = daemon.requested.filter { $0.line == "GET /api/v1/events" }
            #expect(!streams.isEmpty && streams.allSatisfy { $0.query == "limit=0" })
        }
    }

    @Test("Adding: the handle shows an end whose event came before the answer")
    func added() async throws {
        let isRead = DispatchSemaphore(value: 0)
        try await run { request, daemon in
            switch request {
            case "POST /api/v1/downloads":
                try daemon.tell(.state(Self.listed(.completed(.single), asOf: 9)), id: 2)
                isRead.wait()
                return DownloadItems([Self.listed(.waiting(.slot), asOf: 5)])
            default: return try Self.common(request, daemon)
            }
        } _: { manager, daemon in
            let changes = manager.listChanges
            try await manager.activate()
            async let read: Void = readsEvent(changes)
            var request = DownloadRequest(sources: [try DownloadURL(Self.source)], destination: .directory("/tmp"))
            request.id = Self.id
            let wanted = request
            async let added = manager.download(wanted)
            await read
            isRead.signal()
            let download = try await added
            #expect(try await finish(download, daemon).path == "/tmp/a")
        }
    }

    @Test("Looking up: the handle shows an end whose event came before the answer")
    func shown() async throws {
        let isRead = DispatchSemaphore(value: 0)
        try await run { request, daemon in
            guard request == "GET /api/v1/downloads/one" else { return try Self.common(request, daemon) }
            try daemon.tell(.state(Self.listed(.completed(.single), asOf: 9)), id: 2)
            isRead.wait()
            return Self.listed(.downloading, asOf: 5)
        } _: { manager, daemon in
            let changes = manager.listChanges
            try await manager.activate()
            async let found = manager.download(id: Self.id)
            await readsEvent(changes)
            isRead.signal()
            let known = try await found
            let download = try #require(known)
            #expect(try await finish(download, daemon).path == "/tmp/a")
        }
    }

    @Test("Looking up: a download that was removed before the answer was read is not found")
    func gone() async throws {
        let isRead = DispatchSemaphore(value: 0)
        try await run { request, daemon in
            guard request == "GET /api/v1/downloads/one" else { return try Self.common(request, daemon) }
            try daemon.tell(.removed(["one"], asOf: 9), id: 2)
            isRead.wait()
            return Self.listed(.downloading, asOf: 5)
        } _: { manager, daemon in
            let changes = manager.listChanges
            try await manager.activate()
            async let found = manager.download(id: Self.id)
            await readsEvent(changes)
            isRead.signal()
            let download = try await found
            #expect(download == nil)
        }
    }

    @Test("A snapshot that cannot be followed by a look at the downloads: the stream begins again")
    func resetCut() async throws {
        let looks = Mutex(0)
        try await run { request, daemon in
            switch request {
            case "GET /api/v1/downloads":
                // The second look, after the snapshot in mid-stream, breaks off.
                let number = looks.withLock { looks in
                    looks += 1
                    return looks
                }
                return try number == 2 ? nil : Self.common(request, daemon)
            case "GET /api/v1/downloads/one":
                return looks.withLock { $0 } < 2
                    ? Self.listed(.downloading, asOf: 5) : Self.listed(.completed(.single), asOf: 9)
            default: return try Self.common(request, daemon)
            }
        } _: { manager, daemon in
            try await manager.activate()
            let download = try #require(try await manager.download(id: Self.id))
            #expect(download.status.state == .downloading)
            try daemon.tell(Self.snapshot, id: 7)
            #expect(try await finish(download, daemon).path == "/tmp/a")
        }
    }
}
