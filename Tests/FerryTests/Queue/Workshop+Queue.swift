import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

extension Workshop {
    /// A manager whose list is kept beside the downloads, online.
    func kept(
        _ identifier: String = "test", engine: EngineProvider = EngineProvider(),
        monitor: any NetworkMonitor = ManualNetworkMonitor(),
        _ change: (inout DownloadManager.Configuration) -> Void = { _ in }
    ) -> DownloadManager {
        var configuration = DownloadManager.Configuration.default(
            identifier: identifier, directory: directory,
            stateDirectory: directory + "/state/" + identifier)
        configuration.minFreeBytes = 0
        configuration.waitForBusyMachine()
        change(&configuration)
        return DownloadManager(configuration, engine: engine, monitor: monitor)
    }

    /// The names in the directory without the managers' state.
    var files: [String] { names.filter { $0 != "state" } }

    /// A request over one connection.
    func single(_ path: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws -> DownloadRequest {
        try request(path) {
            $0.maxConnections = 1
            change(&$0)
        }
    }

    /// A request over one connection to the server under another name: what this one asks for (`Retry-After`) is no matter of
    /// the downloads of the other.
    func elsewhere(_ path: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws -> DownloadRequest {
        try single(path) {
            let text = server.url(path).replacingOccurrences(of: "127.0.0.1", with: "localhost")
            if let url = try? DownloadURL(text) { $0.sources = [url] }
            change(&$0)
        }
    }

    /// Serves a file at each path; the responses are scripted, then honest.
    @discardableResult
    func serve(_ paths: [String], size: Int64 = 3_000_000, _ script: [Behaviour] = []) -> Resource {
        let resource = Resource(size: size)
        for path in paths {
            server.serve(path, resource)
            server.script(path, script)
        }
        return resource
    }

    /// The paths of all requests, in order.
    var asked: [String] { server.requests.map(\.path) }

    /// Waits for the end of all downloads and expects each file to be equal to the resource.
    func expectAll(
        _ downloads: [Download], are resource: Resource, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for download in downloads {
            try expect(await download.finished().path, is: resource, sourceLocation: sourceLocation)
        }
    }

    /// The code of the error that a body throws; `nil` when it throws none.
    func code(_ body: () async throws -> Void) async -> DownloadError.Code? {
        do { try await body() } catch { return (error as? DownloadError)?.code }
        return nil
    }

    /// All events of a manager until its shutdown.
    func told(_ events: AsyncStream<DownloadEvent>) async -> [DownloadEvent] {
        var all: [DownloadEvent] = []
        for await event in events { all.append(event) }
        return all
    }
}

extension DownloadStatus {
    var bytes: Int64 { progress.completedBytes }
}
