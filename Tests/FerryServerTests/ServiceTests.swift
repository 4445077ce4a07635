import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Logging
import Testing

@testable import FerryServer

@Suite("Service", .timeLimit(.minutes(30)))
struct ServiceTests {
    /// A directory with a systemctl that records its arguments and replies.
    private func run(status: Int = 0, _ body: (String, [String: String], () -> [String]) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        let files = FileManager.default
        try files.createDirectory(atPath: root + "/bin", withIntermediateDirectories: true)
        defer { try? files.removeItem(atPath: root) }
        let script = """
            #!/bin/sh
            echo "$*" >> "\(root)/calls"
            case "$2" in is-active) echo active;; show) cat "\(root)/pid" 2>/dev/null || echo 0;; esac
            exit \(status)
            """
        try Executable.write(script, to: root + "/bin/systemctl")
        let environment = ["PATH": root + "/bin:/usr/bin:/bin", "XDG_CONFIG_HOME": root + "/config", "HOME": root]
        try body(root, environment) {
            ((try? String(contentsOfFile: root + "/calls", encoding: .utf8)) ?? "").split(separator: "\n").map(
                String.init)
        }
    }

    @Test("ServiceInstaller: a unit is installed, queried and uninstalled again")
    func installed() throws {
        try run { root, environment, calls in
            let installer = ServiceInstaller(program: "/opt/my ferry/100%/ferry", environment: environment)
            #expect(!installer.isInstalled)
            #expect(try !installer.uninstall())
            try installer.install()
            #expect(installer.unit == root + "/config/systemd/user/ferry.service")
            let text = try String(contentsOfFile: installer.unit, encoding: .utf8)
            #expect(text.contains("ExecStart=\"/opt/my ferry/100%%/ferry\" serve\n"))
            #expect(calls() == ["--user daemon-reload", "--user enable --now ferry.service"])
            #expect(try installer.status() == "active")
            #expect(try installer.uninstall())
            #expect(!installer.isInstalled)
            #expect(
                calls().suffix(2) == ["--user disable --now ferry.service", "--user daemon-reload"])
        }
    }

    @Test("ServiceInstaller: beside a daemon of another origin the installation is refused with the way to end it")
    func beside() throws {
        try run { root, environment, calls in
            let installer = ServiceInstaller(program: "/opt/ferry", environment: environment)
            #expect {
                try installer.install(beside: ServiceInstaller.Running(process: 77))
            } throws: { error in
                let error = error as? DownloadError
                return error?.code == .conflict && error?.suggestion == "End it first: kill 77."
            }
            #expect {
                try installer.install(beside: ServiceInstaller.Running(process: nil))
            } throws: { ($0 as? DownloadError)?.suggestion == "End it first." }
            #expect(!installer.isInstalled)
            #expect(!calls().contains { $0.contains("enable") })
            // The unit's own daemon is no other one.
            try "77\n".write(toFile: root + "/pid", atomically: true, encoding: .utf8)
            try installer.install(beside: ServiceInstaller.Running(process: 77))
            #expect(installer.isInstalled)
        }
    }

    @Test("SystemdUnit: exit codes for a conflict or bad settings prevent restarts")
    func restarts() {
        let text = SystemdUnit.text(program: "/opt/ferry")
        #expect(text.contains("\nRestartPreventExitStatus=2 9\n"))
        #expect(text.contains("\nStartLimitIntervalSec=60\nStartLimitBurst=5\n"))
    }

    @Test(
        "SystemdUnit: hardening options and a memory limit are set, and --confine on request")
    func hardening() {
        let text = SystemdUnit.text(program: "/opt/ferry")
        let lines = Set(text.split(separator: "\n").map(String.init))
        let taken: Set<String> = [
            "UMask=0077", "NoNewPrivileges=yes", "LockPersonality=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
            "SystemCallArchitectures=native", "LimitCORE=0", "MemoryMax=2G", "OOMPolicy=continue",
        ]
        #expect(lines.isSuperset(of: taken))
        #expect(lines.contains(#"ExecStart="/opt/ferry" serve"#))
        let confined = SystemdUnit.text(program: "/opt/ferry", isConfined: true)
        #expect(confined.contains("\nExecStart=\"/opt/ferry\" serve --confine\n"))
    }

    @Test(
        "SystemdUnit: systemd-analyze accepts every line of the unit",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "no systemd here"))
    func understood() throws {
        let root = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        func verify(_ text: String) throws -> String {
            try text.write(toFile: root + "/ferry.service", atomically: true, encoding: .utf8)
            return try RunningProgram.run(
                ["/usr/bin/systemd-analyze", "--user", "--man=no", "verify", root + "/ferry.service"],
                environment: ["XDG_RUNTIME_DIR": root, "HOME": root, "PATH": "/usr/bin:/bin"]
            ).text
        }
        let text = SystemdUnit.text(program: "/bin/true", isConfined: true)
        #expect(try verify(text) == "")
        // A misspelled line is reported.
        #expect(try verify(text.replacing("LockPersonality=", with: "LockPersona=")).contains("LockPersona"))
    }

    @Test("ServiceInstaller: a refusal of systemctl is an error with a suggestion")
    func refused() throws {
        try run(status: 1) { _, environment, _ in
            let installer = ServiceInstaller(program: "/opt/ferry", environment: environment)
            #expect { try installer.install() } throws: { ($0 as? DownloadError)?.suggestion != nil }
            #expect(!installer.isInstalled, "a failed installation leaves nothing")
            try FileManager.default.createDirectory(
                atPath: Paths.parent(of: installer.unit), withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: installer.unit))
            #expect(throws: DownloadError.self) { try installer.uninstall() }
            #expect(!installer.isInstalled, "the unit is removed all the same")
        }
    }

    @Test("ServiceInstaller: a missing systemctl is an error, and a path with a line end is refused")
    func missing() throws {
        try run { root, environment, _ in
            var environment = environment
            environment["PATH"] = root + "/nothing"
            #expect(throws: DownloadError.self) {
                try ServiceInstaller(program: "/opt/ferry", environment: environment).install()
            }
            for end in ["\n", "\r\n", "\r", "\0"] {
                let program = "/opt/a\(end)ExecStartPre=/bin/evil"
                let installer = ServiceInstaller(program: program, environment: environment)
                #expect { try installer.install() } throws: { ($0 as? DownloadError)?.code == .invalidRequest }
                let text = try? String(contentsOfFile: installer.unit, encoding: .utf8)
                #expect(text?.contains("evil") != true)
            }
        }
    }

    @Test("SystemdUnit: a path with quotes and combining marks stays one word")
    func quoting() {
        let text = SystemdUnit.text(program: "/opt/\"\u{301} ExecStartPre=/bin/evil \\\u{301}%\u{301}$\u{301}")
        #expect(
            text.utf8.contains(
                "\"/opt/\\\"\u{301} ExecStartPre=/bin/evil \\\\\u{301}%%\u{301}$$\u{301}\" serve\n"))
    }

    @Test("DaemonPaths: the defaults follow the XDG directories, the variables of Ferry and the flags")
    func places() {
        let plain = DaemonPaths(environment: [:], home: "/home/u", userID: 7)
        #expect(plain.state == StateDirectory.root(home: "/home/u") + "/ferry")
        #expect(plain.socket == "/tmp/ferry-7/ferry.sock")
        #expect(plain.settings == "/home/u/.config/ferry/ferry.json")
        #expect(plain.downloads == "/home/u/Downloads")
        #expect(plain.catalogue == plain.state + "/sessions/daemon")
        let given = DaemonPaths(
            environment: [
                "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r", "XDG_CONFIG_HOME": "/c", "XDG_DOWNLOAD_DIR": "/d",
            ], home: "/home/u", userID: 7)
        #expect(given.state == "/s/ferry")
        #expect(given.socket == "/r/ferry/ferry.sock")
        #expect(given.settings == "/c/ferry/ferry.json")
        #expect(given.downloads == "/d")
        let told = DaemonPaths(
            environment: ["FERRY_STATE_DIR": "/fs", "FERRY_SOCKET": "/fk", "XDG_STATE_HOME": "relative"],
            home: "/home/u", userID: 7, settings: "/x.json")
        #expect(told.state == "/fs")
        #expect(told.socket == "/fk")
        #expect(told.settings == "/x.json")
        let relative = DaemonPaths(
            environment: ["FERRY_STATE_DIR": "test", "FERRY_CONFIG": "my/ferry.json", "XDG_RUNTIME_DIR": "/r"],
            home: "/home/u", userID: 7, workingDirectory: "/here")
        #expect(relative.state == "/here/test")
        #expect(relative.socket == "/here/test/run/ferry.sock")
        #expect(relative.settings == "/here/my/ferry.json")
        let empty = DaemonPaths(
            environment: ["FERRY_STATE_DIR": "", "FERRY_SOCKET": "", "FERRY_CONFIG": ""], home: "/home/u", userID: 7,
            workingDirectory: "/here")
        #expect(empty == plain)
    }

    @Test("Daemon: ended downloads launch an absent client's app, without a shell")
    func launched() async throws {
        try await DaemonRig.run { rig in
            let told = NamedPipe(rig.directory + "/out")
            let script = rig.directory + "/app"
            try Executable.write("#!/bin/sh\necho \"$FERRY_SESSION $1 $#\" > '\(told.path)'\n", to: script)
            let registration = SessionRegistration(
                identifier: "app", launchCommand: [script, "$(touch '\(rig.directory)/shell')"])
            #expect(try await rig.ask(.attach, body: registration).shape(SessionBody.self).hasLaunchCommand)
            for name in ["/file/1k", "/file/2k", "/file/3k"] {
                let added = try await rig.add(RawRequest(urls: [rig.url(name)]), session: "app")
                _ = try await rig.reach("completed", added.id)
            }
            #expect(
                try await told.text()
                    == "app $(touch '\(rig.directory)/shell') 1\n")
            #expect(!FileManager.default.fileExists(atPath: rig.directory + "/shell"))
            let mode = try FileManager.default.attributesOfItem(atPath: rig.place.sessions)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let reply = try await rig.ask(.sessions)
            #expect(!reply.text.contains(script))
        }
    }

    @Test("Daemon: an attached app is not launched when a download ends")
    func notLaunched() async throws {
        try await DaemonRig.run { rig in
            let out = rig.directory + "/out"
            let registration = SessionRegistration(identifier: "app", launchCommand: ["/usr/bin/touch", out])
            _ = try await rig.ask(.attach, body: registration)
            try await rig.follow(session: "app") { events in
                _ = try await events.catchUp()
                let added = try await rig.add(RawRequest(urls: [rig.url("/file/1k")]), session: "app")
                _ = try await events.next { event in
                    if case .happened(let body) = event, body.event.id == added.id, body.event.kind.isEnd {
                        true
                    } else {
                        nil
                    }
                }
                _ = try await rig.ask(.acknowledge, id: "app", body: AcknowledgeBody([1, 2, 3]))
            }
            #expect(!FileManager.default.fileExists(atPath: out))
        }
    }

    @Test(
        "Daemon: onComplete runs after a completed download, and not after a cancelled one", arguments: [true, false])
    func onComplete(completes: Bool) async throws {
        let out = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        let script = out + ".sh"
        try Executable.write("#!/bin/sh\nprintf %s \"$FERRY_PATH|$FERRY_SESSION\" > '\(out)'\n", to: script)
        defer { for path in [out, script] { try? FileManager.default.removeItem(atPath: path) } }
        let told = completes ? NamedPipe(out) : nil
        try await DaemonRig.run {
            $0.flags[.onComplete] = .text(script)
        } _: { rig in
            if !completes { rig.origin.always("/file/1k", .status(404)) }
            let added = try await rig.add(RawRequest(urls: [rig.url("/file/1k")]))
            if completes {
                #expect(try await told?.text() == rig.downloads + "/1k|default")
            } else {
                _ = try await rig.ask(.cancel, id: added.id.rawValue)
                #expect(!FileManager.default.fileExists(atPath: out))
            }
        }
    }

    @Test("Settings: onComplete is searched in PATH and refused when it cannot be run")
    func completionPrograms() async throws {
        let root = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root + "/tool/folder", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let text = root + "/tool/text"
        for path in [text, root + "/tool/app"] {
            try "#!/bin/sh\n".write(toFile: path, atomically: true, encoding: .utf8)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: text)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: root + "/tool/app")
        let search = ["PATH": root + ":" + root + "/tool"]
        for words in [["app x"], ["nothing"], ["text"], [text], ["folder"], [root], ["tool"], ["./app"]] {
            await #expect {
                try await DaemonRig.run {
                    $0.environment = search
                    $0.flags[.onComplete] = .list(words.map(JSONValue.text))
                } _: { _ in
                    Issue.record("it listens")
                }
            } throws: { error in
                let error = error as? DownloadError
                return error?.code == .invalidRequest && error?.message.contains(words[0]) == true
            }
        }
        try await DaemonRig.run(settings: #"{"onComplete": ["app", "a b", "-c"]}"#) {
            $0.environment = search
        } _: { rig in
            #expect(rig.daemon.settings.current.onComplete == [root + "/tool/app", "a b", "-c"])
            try #"{"onComplete": "nothing", "rateLimit": 9}"#.write(
                toFile: rig.place.settings, atomically: true, encoding: .utf8)
            await rig.log.wait(for: "nothing is no program that can be run")
            #expect(rig.daemon.settings.current.onComplete == [root + "/tool/app", "a b", "-c"])
            #expect(rig.daemon.settings.current.rateLimit == nil)
        }
    }

    @Test("API attach: a launch command without an absolute path is refused")
    func launchCommands() async throws {
        try await DaemonRig.run { rig async throws in
            for command in [["app"], ["./app"], ["/a\0b"]] {
                let registration = SessionRegistration(identifier: "app", launchCommand: command)
                #expect(try await rig.ask(.attach, body: registration).status == 400)
            }
        }
    }

    @Test("LogFile: it is for its user alone, rotates when it is large, and keeps the previous file")
    func logFile() throws {
        let root = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let path = root + "/daemon.log"
        let file = LogFile(path, mostBytes: 100)
        #expect(!FileManager.default.fileExists(atPath: path))
        for number in 0..<5 { file.write("line \(number) " + String(repeating: "x", count: 40)) }
        func lines(_ path: String) throws -> [String] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { String($0.prefix(6)) }
        }
        #expect(try lines(path) == ["line 4"])
        #expect(try lines(path + ".1") == ["line 2", "line 3"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // A second LogFile appends to the file.
        var logger = Logger(label: "ferry") { LogFile.Handler(LogFile(path), label: $0) }
        logger[metadataKey: "id"] = "7"
        logger.warning("beware", metadata: ["error": "none"])
        logger.debug("unseen")
        let text = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(text.count == 2)
        #expect(text.last?.hasSuffix("] beware") == true)
        #expect(text.last?.contains(" warning ferry: error=none id=7 [") == true)
    }

    @Test("Daemon: onNeedsUser runs when a download needs its user, with its name and what it needs")
    func onNeedsUser() async throws {
        let out = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        let script = out + ".sh"
        try Executable.write(
            "#!/bin/sh\nprintf %s \"$FERRY_NAME|$FERRY_REASON|$FERRY_SESSION|$FERRY_MESSAGE\" > '\(out)'\n", to: script)
        defer { for path in [out, script] { try? FileManager.default.removeItem(atPath: path) } }
        let told = NamedPipe(out)
        try await DaemonRig.run {
            $0.flags[.onNeedsUser] = .text(script)
        } _: { rig in
            rig.origin.serve("/a.iso", Resource(size: 3_000_000))
            rig.origin.always("/a.iso", .htmlPage())
            _ = try await rig.add(RawRequest(urls: [rig.url("/a.iso")]))
            let text = try await told.text()
            #expect(text.hasPrefix("a.iso|freshLink|default|the server sent a web page"), "\(text)")
        }
    }

    @Test(
        "NeedMemory: a need is told once, and again after the download went on, for another reason, or wrong credentials"
    )
    func needs() {
        var memory = NeedMemory()
        func news(_ kind: DownloadEvent.Kind) -> String? {
            memory.news(
                in: DownloadEvent(
                    id: DownloadID(rawValue: "a"), date: Date(), kind: kind))
        }
        #expect(news(.added(url: "")) == nil)
        #expect(news(.waiting(.freshLink, message: "")) == "freshLink")
        #expect(news(.waiting(.freshLink, message: "")) == nil)
        #expect(news(.waiting(.network, message: "")) == nil)
        #expect(news(.waiting(.credentials, message: "")) == "credentials")
        #expect(news(.retrying(attempt: 1, delay: .seconds(1), reason: "")) == nil)
        #expect(news(.waiting(.credentials, message: "")) == "credentials")
        #expect(news(.waiting(.diskSpace, message: "")) == "diskSpace")
        #expect(news(.waiting(.diskSpace, message: "")) == nil)
        #expect(news(.started(name: "a", totalBytes: nil)) == nil)
        #expect(news(.waiting(.credentials, message: "")) == "credentials")
        #expect(news(.failed(DownloadError(.refused, ""))) == "refused")
        #expect(news(.failed(DownloadError(.refused, ""))) == nil)
    }
}
