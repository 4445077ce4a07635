import Ferry
import FerryAPI
import FerryCore
import Foundation
import Logging
import Testing

@testable import FerryServer

@Suite("The settings file", .timeLimit(.minutes(30)))
struct SettingsTests {
    /// What a file with this text says, without a daemon.
    private func settings(_ text: String) async throws -> DaemonSettings {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString + ".json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await settings(at: path)
    }

    private func settings(at path: String) async throws -> DaemonSettings {
        let source = try await SettingsSource(
            file: path, environment: [:], flags: [:], defaults: DaemonSettings(directory: "/d"),
            logger: Logger(label: "settings") { _ in LogBook.Handler(book: LogBook()) }
        ) { _ in }
        return try source.settings()
    }

    /// A bridge to Foundation's numbers took `true` for 1, and 1 for `true`.
    @Test(
        "a member of another type is refused by its name: a truth value is no number, and a number no truth value",
        arguments: [
            ("maxConcurrentDownloads", "true"), ("connectionsPerHost", "true"), ("rateLimit", "true"),
            ("retriesFailedAfter", "true"), ("port", "false"), ("allowsMetered", "1"), ("allowsConstrained", "0"),
            ("allowsPrivate", "0"),
            ("loopback", "0.0"), ("maxConcurrentDownloads", "\"7\""), ("maxConcurrentDownloads", "1.5"),
            ("maxConcurrentDownloads", "[1]"), ("rateLimit", "{\"a\": 1}"), ("allowsMetered", "\"true\""),
            ("networkAssumption", "true"), ("directory", "[]"), ("onComplete", "true"),
            ("onComplete", "[\"/bin/sh\", 1]"),
            ("allowedDirectories", "[1]"), ("allowedDirectories", "{}"),
        ])
    func wrongTypes(name: String, value: String) async throws {
        await #expect {
            try await settings("{\"\(name)\": \(value)}")
        } throws: { error in
            let error = error as? DownloadError
            return error?.code == .invalidRequest && error?.message == "a setting cannot be used: \(name)"
        }
    }

    @Test("a member of its own type is taken, a whole number where any is, and null is as if it were not there")
    func ownTypes() async throws {
        let settings = try await settings(
            """
            {
                "port": 0, "loopback": false, "maxConcurrentDownloads": 1, "connectionsPerHost": 4.0, "rateLimit": 2e3,
                "allowsPrivate": false,
                "allowsMetered": false, "allowsConstrained": true, "networkAssumption": "metered",
                "retriesFailedAfter": 1.5, "onComplete": [], "allowedDirectories": ["/a", "/b"], "directory": null,
                "mine": [1, {"a": [true, null]}]
            }
            """)
        #expect(settings.port == 0)
        #expect(!settings.servesLoopback)
        #expect(!settings.allowsPrivate)
        #expect(settings.maxConcurrentDownloads == 1)
        #expect(settings.connectionsPerHost == 4)
        #expect(settings.rateLimit == 2000)
        #expect(!settings.allowsMetered)
        #expect(settings.allowsConstrained)
        #expect(settings.networkIsMetered == true)
        #expect(settings.retriesFailedAfter == .milliseconds(1500))
        #expect(settings.onComplete == [])
        #expect(settings.allowedDirectories == ["/a", "/b"])
        #expect(settings.directory == "/d")
        #expect(try await self.settings(#"{"retriesFailedAfter": 30}"#).retriesFailedAfter == .seconds(30))
    }

    @Test("what the API writes into the file is of the types that are read from it")
    func written() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString + ".json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #"{"loopback": true, "port": 1, "allowsConstrained": false}"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        var change = SettingsChange()
        change.maxConcurrentDownloads = .set(1)
        change.allowsMetered = .set(true)
        change.retriesFailedAfter = .set(1)
        try SettingsFile(path: path).merge(change)
        let settings = try await settings(at: path)
        #expect(settings.servesLoopback)
        #expect(settings.port == 1)
        #expect(settings.maxConcurrentDownloads == 1)
        #expect(settings.allowsMetered)
        #expect(!settings.allowsConstrained)
        #expect(settings.retriesFailedAfter == .seconds(1))
    }

    @Test("a changed file with a truth value for a number changes nothing")
    func changedType() async throws {
        try await DaemonRig.run(settings: #"{"maxConcurrentDownloads": 2}"#) { rig in
            try #"{"maxConcurrentDownloads": true, "rateLimit": 9}"#.write(
                toFile: rig.place.settings, atomically: true, encoding: .utf8)
            await rig.log.wait(for: "a setting cannot be used: maxConcurrentDownloads")
            #expect(rig.daemon.settings.current.maxConcurrentDownloads == 2)
            #expect(rig.daemon.settings.current.rateLimit == nil)
        }
    }

    @Test("a program that cannot be run is said in every language")
    func program() {
        #expect {
            try CompletionCommand.resolve(["nothing", "-x"], searchPath: "/nowhere")
        } throws: { error in
            let error = error as? DownloadError
            return error?.message == "a setting cannot be used: onComplete: nothing is no program that can be run"
                && error?.message(in: .simplifiedChinese) == "有一项设置无法使用：onComplete：nothing 不是可以运行的程序"
        }
    }

    @Test(
        "a body of another type is refused by the name of its member",
        arguments: [
            #"{"maxConcurrentDownloads": true}"#, #"{"rateLimit": false}"#, #"{"connectionsPerHost": "7"}"#,
            #"{"retriesFailedAfter": true}"#, #"{"allowsMetered": 1}"#, #"{"allowsConstrained": "true"}"#,
        ])
    func bodies(text: String) async throws {
        try await DaemonRig.run { rig in
            let before = try await rig.ask(.settings).shape(SettingsBody.self)
            let reply = try await rig.send(
                "PATCH", Route.changeSettings.path(), headers: ["Content-Type": "application/json"],
                body: Data(text.utf8))
            #expect(reply.status == 400)
            let name = try #require(text.split(separator: "\"").dropFirst().first)
            #expect(reply.problem?.detail?.contains("“\(name)”") == true, "\(reply.text)")
            #expect(try await rig.ask(.settings).shape(SettingsBody.self) == before)
            #expect(!FileManager.default.fileExists(atPath: rig.place.settings))
        }
    }
}
