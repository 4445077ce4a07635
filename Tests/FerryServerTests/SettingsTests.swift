import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("Settings file", .timeLimit(.minutes(30)))
struct SettingsTests {
    /// The settings of a file with this text, without a daemon.
    private func settings(_ text: String, _ environment: [String: String] = [:]) throws -> DaemonSettings {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString + ".json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try settings(at: path, environment)
    }

    private func settings(at path: String, _ environment: [String: String] = [:]) throws -> DaemonSettings {
        try SettingsSource(
            file: path, environment: environment, flags: SettingValues(), defaults: DaemonSettings(directory: "/d")
        ).settings()
    }

    /// A bridge to Foundation's numbers took `true` for 1, and 1 for `true`.
    @Test(
        "Settings: a member of another JSON type is refused by its name",
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
    func wrongTypes(name: String, value: String) throws {
        #expect {
            try settings("{\"\(name)\": \(value)}")
        } throws: { error in
            let error = error as? DownloadError
            return error?.code == .invalidRequest
                && error?.message.hasPrefix("a setting cannot be used: \(name) needs ") == true
                && error?.suggestion?.hasPrefix("Correct it in /") == true
        }
    }

    @Test("Settings: a member of its own type is used, and null counts as missing")
    func ownTypes() throws {
        let settings = try settings(
            """
            {
                "port": 0, "loopback": false, "maxConcurrentDownloads": 1, "connectionsPerHost": 4.0, "rateLimit": 2e3,
                "allowsPrivate": false,
                "allowsMetered": false, "allowsConstrained": true, "networkAssumption": "metered",
                "retriesFailedAfter": 1.5, "onComplete": [], "allowedDirectories": ["/a", "/b"], "directory": null,
                "mine": [1, {"a": [true, null]}]
            }
            """)
        var expected = DaemonSettings(directory: "/d")
        (expected.port, expected.loopback, expected.allowsPrivate) = (0, false, false)
        (expected.maxConcurrentDownloads, expected.connectionsPerHost, expected.rateLimit) = (1, 4, 2000)
        (expected.allowsMetered, expected.allowsConstrained, expected.networkAssumption) = (false, true, "metered")
        (expected.retriesFailedAfter, expected.onComplete) = (1.5, [])
        expected.allowedDirectories = ["/a", "/b"]
        #expect(settings == expected)
        #expect(try self.settings(#"{"retriesFailedAfter": 30}"#).retriesFailedAfter == 30)
    }

    @Test("Settings: budgets of hosts and domains are those of the manager")
    func hostBudgets() throws {
        let settings = try settings(#"{"hostConnections": 2, "domainConnections": 4, "hostDelay": 0.5}"#)
        var configuration = DownloadManager.Configuration.ephemeral
        settings.apply(to: &configuration, proxies: ProxySettings())
        #expect(configuration.server.hostBudget == HostBudget(connections: 2, delay: .milliseconds(500)))
        #expect(configuration.server.domainBudget == HostBudget(connections: 4))
    }

    @Test("Settings: every property has a name for the file, the variables and the flags")
    func names() {
        let properties = Mirror(reflecting: DaemonSettings(directory: "/d")).children.compactMap(\.label)
        #expect(Set(properties) == Set(Setting.allCases.map(\.rawValue)))
    }

    @Test("Settings: variables are parsed in the form of their settings, before the file")
    func variables() throws {
        let file = #"{"allowsMetered": false, "connectionsPerHost": 4, "rateLimit": 9, "port": true}"#
        let settings = try settings(
            file,
            [
                "FERRY_PORT": "0", "FERRY_LOOPBACK": "No", "FERRY_ALLOWS_PRIVATE": "0", "FERRY_ALLOWS_METERED": "",
                "FERRY_ALLOWS_CONSTRAINED": "FALSE", "FERRY_MAX_CONCURRENT_DOWNLOADS": "7",
                "FERRY_CONNECTIONS_PER_HOST": "", "FERRY_NETWORK_ASSUMPTION": "unmetered",
                "FERRY_RETRIES_FAILED_AFTER": "1.5", "FERRY_DIRECTORY": "/5", "FERRY_ALLOWED_DIRECTORIES": "/a, /b,c",
                "FERRY_ON_COMPLETE": "/bin/sh,true",
            ])
        var expected = DaemonSettings(directory: "/5")
        (expected.port, expected.loopback, expected.allowsPrivate) = (0, false, false)
        (expected.allowsConstrained, expected.maxConcurrentDownloads, expected.rateLimit) = (false, 7, 9)
        (expected.networkAssumption, expected.retriesFailedAfter) = ("unmetered", 1.5)
        (expected.allowedDirectories, expected.onComplete) = (["/a", "/b"], ["/bin/sh", "true"])
        #expect(settings == expected)
    }

    @Test(
        "Settings: a malformed variable is refused by its name, with what it needs, unless a flag overrides it",
        arguments: [
            ("port", "much"), ("rateLimit", "1.5"), ("connectionsPerHost", " 4"), ("loopback", "2"),
            ("retriesFailedAfter", "nan"), ("retriesFailedAfter", "soon"),
        ])
    func wrongVariables(name: String, text: String) throws {
        let setting = try #require(Setting(rawValue: name))
        #expect {
            try settings("{}", [SettingForm.variable(name): text])
        } throws: { error in
            (error as? DownloadError)?.message.hasPrefix(
                "a setting cannot be used: \(SettingForm.variable(name)) needs ") == true
        }
        let value: JSONValue = name == "loopback" ? .flag(false) : .whole(7)
        let source = try SettingsSource(
            file: "/nowhere/ferry.json", environment: [SettingForm.variable(name): text],
            flags: SettingValues([setting: value]), defaults: DaemonSettings(directory: "/d"))
        #expect(try source.settings() != DaemonSettings(directory: "/d"))
    }

    @Test("Settings: an unreadable file is an error, and a change does not replace it")
    func unreadable() throws {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let attempts: [() throws -> Void] = [
            { _ = try settings(at: path) }, { try SettingsFile(path: path).merge(SettingsChange()) },
        ]
        for attempt in attempts {
            #expect {
                try attempt()
            } throws: { error in
                (error as? DownloadError)?.message == "the settings in \(path) cannot be read"
            }
        }
    }

    @Test("Settings: what the API writes into the file is read back with the same types")
    func written() throws {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString + ".json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #"{"loopback": true, "port": 1, "allowsConstrained": false}"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        var change = SettingsChange()
        change.maxConcurrentDownloads = .set(1)
        change.allowsMetered = .set(true)
        change.retriesFailedAfter = .set(1)
        try SettingsFile(path: path).merge(change)
        var expected = DaemonSettings(directory: "/d")
        (expected.loopback, expected.port, expected.allowsConstrained) = (true, 1, false)
        (expected.maxConcurrentDownloads, expected.allowsMetered, expected.retriesFailedAfter) = (1, true, 1)
        #expect(try settings(at: path) == expected)
    }

    @Test("changes at the same time are all kept, in the file too: of the daemon and of a session")
    func atOnce() async throws {
        try await DaemonRig.run { rig in
            var changes: [SettingsChange] = []
            for set in [
                { $0.maxConcurrentDownloads = .set(7) }, { $0.rateLimit = .set(8000) },
                { $0.allowsMetered = .set(false) }, { $0.allowsConstrained = .set(false) },
            ] as [(inout SettingsChange) -> Void] {
                var change = SettingsChange()
                set(&change)
                changes.append(change)
            }
            for round in 0..<10 {
                let session = round % 2 == 0 ? "app" : nil
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for change in changes {
                        group.addTask {
                            try await rig.ask(
                                .changeSettings, session: session, query: session == nil ? "" : "scope=session",
                                body: change
                            ).status
                        }
                    }
                    for try await status in group { #expect(status == 200) }
                }
                if session == nil {
                    let written = try settings(at: rig.place.settings)
                    for settings in [written, rig.daemon.settings.current] {
                        #expect(settings.maxConcurrentDownloads == 7 && settings.rateLimit == 8000)
                        #expect(!settings.allowsMetered && !settings.allowsConstrained)
                    }
                    try FileManager.default.removeItem(atPath: rig.place.settings)
                } else {
                    let own = try #require(SessionStore(rig.place.sessions).entry("app")?.settings)
                    #expect(own.maxConcurrentDownloads == 7 && own.rateLimit == 8000)
                    #expect(own.allowsMetered == false && own.allowsConstrained == false)
                    try await rig.daemon.sessions.changeSettings(of: "app") { $0 = SessionSettings() }
                }
            }
        }
    }

    @Test("Settings: a program that cannot be run is reported in English and Chinese")
    func program() {
        #expect {
            try CompletionCommand.resolve(["nothing", "-x"], of: .onNeedsUser, searchPath: "/nowhere")
        } throws: { error in
            let error = error as? DownloadError
            return error?.message == "a setting cannot be used: onNeedsUser: nothing is no program that can be run"
                && error?.message(in: .simplifiedChinese) == "有一项设置无法使用：onNeedsUser：nothing 不是可以运行的程序"
        }
    }

    @Test(
        "API settings: a body with a member of another type is refused by its name",
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
