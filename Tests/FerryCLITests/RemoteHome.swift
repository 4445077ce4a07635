import FerryTesting
import Foundation
import Testing

/// A user's environment whose commands share a daemon that one of them has started, and an origin beside it.
struct RemoteHome: Sendable {
    let server: OriginServer
    let place: Workplace
    /// The daemon's directory; short, as the path of a socket must be.
    let root: String

    static func run(_ body: @Sendable (RemoteHome) async throws -> Void) async throws {
        try await OriginServer.with { server in
            let root = "/tmp/ferry-test-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            try FileManager.default.createDirectory(
                atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(atPath: root) }
            let home = RemoteHome(server: server, place: try Workplace(), root: root)
            let result: Result<Void, any Error>
            do { result = .success(try await body(home)) } catch { result = .failure(error) }
            try await home.started.end()
            try result.get()
        }
    }

    var environment: [String: String] {
        [
            "FERRY_SOCKET": root + "/run/s", "FERRY_STATE_DIR": root + "/state", "FERRY_CONFIG": root + "/ferry.json",
            "FERRY_LOOPBACK": "false", "XDG_DOWNLOAD_DIR": place.path("Downloads"),
        ]
    }

    /// The path of a download without another directory.
    func path(_ name: String) -> String { place.path("Downloads/" + name) }

    /// Runs a command to its end.
    func ferry(
        _ arguments: String..., environment: [String: String] = [:], input: String? = nil
    ) async throws -> FerryProcess.Outcome {
        try await FerryProcess.run(
            arguments, in: place, environment: self.environment.merging(environment) { $1 }, input: input)
    }

    /// Runs a command as ``ferry(_:environment:input:)`` does, and expects success.
    @discardableResult
    func run(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> FerryProcess.Outcome {
        let outcome = try await FerryProcess.run(arguments, in: place, environment: environment)
        #expect(outcome.code == 0, "\(arguments): \(outcome.error)", sourceLocation: sourceLocation)
        #expect(outcome.error == "", sourceLocation: sourceLocation)
        return outcome
    }

    /// The lines of JSON of a command.
    func objects(_ arguments: String...) async throws -> [[String: Any]] {
        let outcome = try await FerryProcess.run(arguments + ["--json"], in: place, environment: environment)
        #expect(outcome.code == 0, "\(arguments): \(outcome.error)")
        return try FerryCLITests.objects(outcome.text)
    }

    /// The process of the daemon; `nil` when none was started.
    var daemon: Int32? { started.process }

    private var started: StartedDaemon { StartedDaemon(state: root + "/state") }
}
