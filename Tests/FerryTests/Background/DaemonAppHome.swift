import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient

/// Apps whose downloads run in the daemon, each a process of its own, as the daemon is.
struct DaemonAppHome: Sendable {
    let home: AppHome
    /// The directory of the daemon's files; short, as the path of a socket must be.
    let place: String

    static func run(_ body: @Sendable (DaemonAppHome) async throws -> Void) async throws {
        try await AppHome.run { home in
            let place = "/tmp/ferry-test-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(atPath: place) }
            let own = DaemonAppHome(home: home, place: place)
            let result: Result<Void, any Error>
            do { result = .success(try await body(own)) } catch { result = .failure(error) }
            // An app may have started a daemon that no object of this test holds.
            try await own.daemon.end()
            try result.get()
        }
    }

    var server: OriginServer { home.server }
    var socket: String { place + "/run/s" }

    /// The environment of apps and daemon with their paths.
    var environment: [String: String] {
        [
            "FERRY_SOCKET": socket, "FERRY_STATE_DIR": place + "/state", "FERRY_CONFIG": place + "/ferry.json",
            "FERRY_LOOPBACK": "false", "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    func serve() async throws -> ServedDaemon { try await ServedDaemon.start(environment: environment) }

    private func settings(events: String, delegate: String) -> [String: any Sendable] {
        [
            "identifier": "test", "directory": home.directory, "state": home.state, "limit": 3,
            "storesCredentials": true, "events": events, "delegate": delegate, "isBackground": true,
        ]
    }

    /// Starts the app.
    func app(
        events: String = "print", delegate: String = "print", launchCommand: [String]? = nil
    ) throws -> AppProcess {
        var settings = settings(events: events, delegate: delegate)
        if let launchCommand { settings["launchCommand"] = launchCommand }
        return try AppProcess(settings: settings, environment: environment)
    }

    /// The command with which the daemon starts the app; the app reports to this file and exits.
    func launchCommand(report: String) throws -> [String] {
        var settings = settings(events: "print", delegate: "print")
        settings["report"] = report
        let text = try String(decoding: JSONSerialization.data(withJSONObject: settings), as: UTF8.self)
        return [try BuiltProgram.url("ferry-app").path, text]
    }

    /// Adds a download whose response the server holds after `bytes` until the gate is opened.
    func begin(_ name: String, in app: AppProcess, bytes: Int64 = 1_000_000, _ gate: Gate) async throws -> Resource {
        let resource = Resource(size: 3_000_000, seed: 7)
        server.serve("/" + name, resource)
        server.always("/" + name, .hold(after: bytes, gate))
        try await app.ask("add", ["id": name, "url": server.url("/" + name)])
        try await app.ask("wait", ["id": name, "bytes": bytes])
        return resource
    }

    /// A manager of the same session in this process that only reads.
    func watcher() -> DownloadManager {
        let place = DaemonAddress.test(socket, directory: home.directory)
        return DownloadManager(DownloadManager.Configuration(daemon: place))
    }

    /// Waits for the end of a download of any app.
    func waitForEnd(of id: String) async throws {
        let watcher = watcher()
        try await notForever("the end of \(id)", seen: { daemon.sight }) {
            let download = try #require(try await watcher.download(id: DownloadID(rawValue: id)))
            _ = try? await download.finished()
        }
        await watcher.shutdown()
    }

    /// The process identifier of the running daemon; `nil` if none responds.
    func daemonID() async throws -> Int32? {
        try await notForever("the daemon's greeting", seen: { daemon.sight }) {
            let client = DaemonClient(socket: socket, session: "test")
            let greeting = try? await client.send(DaemonCall(.greeting), as: Greeting.self)
            return greeting.map { Int32($0.pid) }
        }
    }

    private var daemon: StartedDaemon { StartedDaemon(state: place + "/state") }
}
