import Ferry
import FerryTesting
import Foundation
import Testing

/// An origin, a directory of its own, and managers that are shut down at the end.
struct Workshop: Sendable {
    let server: OriginServer
    let directory: String

    /// Runs a body with a fresh origin and directory, which are removed at its end.
    static func run<T: Sendable>(
        _ configuration: OriginServer.Configuration = OriginServer.Configuration(),
        _ body: @Sendable (Workshop) async throws -> T
    ) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try await OriginServer.with(configuration) { server in
            try await body(Workshop(server: server, directory: directory))
        }
    }

    /// A manager that keeps no list, with an engine of the test if one is given.
    func manager(
        engine: EngineProvider? = nil, _ change: (inout DownloadManager.Configuration) -> Void = { _ in }
    ) -> DownloadManager {
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.minFreeBytes = 0
        configuration.waitForBusyMachine()
        change(&configuration)
        return engine.map { DownloadManager(configuration, engine: $0) } ?? DownloadManager(configuration)
    }

    func request(_ path: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws -> DownloadRequest {
        var request = DownloadRequest(
            sources: [try DownloadURL(server.url(path))], destination: .directory(directory))
        change(&request)
        return request
    }

    /// Downloads in a manager of its own, as a process would, and returns the events too.
    func get(
        _ path: String, engine: EngineProvider? = nil,
        _ configure: (inout DownloadManager.Configuration) -> Void = { _ in },
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> Outcome {
        try await outcome(of: manager(engine: engine, configure), try request(path, change))
    }

    /// Runs one request to its end, and the manager with it.
    func outcome(of manager: DownloadManager, _ request: DownloadRequest) async throws -> Outcome {
        let events = manager.events
        let download = try await manager.download(request)
        let result: Result<FinishedDownload, DownloadError>
        do throws(DownloadError) { result = .success(try await download.finished()) } catch { result = .failure(error) }
        await manager.shutdown()
        var all: [DownloadEvent.Kind] = []
        for await event in events { all.append(event.kind) }
        return Outcome(result: result, events: all)
    }

    /// Begins a download over one connection that the server holds after `bytes`, and shuts the manager down there.
    func interrupt(
        _ path: String, after bytes: Int64, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws {
        server.script(path, [.stall(after: bytes)])
        let manager = manager()
        let download = try await manager.download(
            try request(path) {
                change(&$0)
                $0.maxConnections = 1
            })
        await reach(bytes, download)
        await manager.shutdown()
        server.always(path, .honest)
    }

    /// Waits until the download has this many bytes, or has ended.
    func reach(_ bytes: Int64, _ download: Download) async {
        for await status in download.updates where status.progress.completedBytes >= bytes || status.state.isFinal {
            break
        }
    }

    struct Outcome: Sendable {
        var result: Result<FinishedDownload, DownloadError>
        var events: [DownloadEvent.Kind]

        var file: FinishedDownload {
            get throws { try result.get() }
        }
        var error: DownloadError? { if case .failure(let error) = result { error } else { nil } }
        /// Returns whether a note contains the text.
        func notes(_ text: String) -> Bool {
            events.contains { if case .note(let note) = $0 { note.contains(text) } else { false } }
        }
        var resumedAt: Int64? {
            for case .resumed(let offset, _, _) in events { return offset }
            return nil
        }
        var restartReason: String? {
            for case .restarted(let reason) in events { return reason }
            return nil
        }
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    /// Expects a file to be equal to the resource.
    func expect(
        _ path: String, is resource: Resource, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let comparison = resource.source.compare(file: path, size: resource.size)
        #expect(comparison == .equal, "\(comparison)", sourceLocation: sourceLocation)
    }
}

extension DownloadManager.Configuration {
    /// Makes time-outs too long to be reached on a busy machine; tests of time-outs set their own.
    mutating func waitForBusyMachine() {
        stallTimeout = .seconds(9000)
        transfer.connectTimeout = .seconds(9000)
    }
}
