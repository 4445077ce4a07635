import FerryTesting
import Foundation
import Testing

@Suite("The binary: stop, status and logs", .serialized, .timeLimit(.minutes(30))) struct DaemonCommandTests {
    @Test("ferry stop: it returns once the daemon has left, and says what goes on at the next start")
    func stopped() async throws {
        try await RemoteHome.run { home in
            let gate = Gate()
            home.server.serve("/a", Resource(size: 300_000, seed: 5))
            home.server.script("/a", [.hold(gate)])
            try await home.run("add", home.server.url("/a"))
            await gate.arrived(1)
            let process = try #require(home.daemon)
            let status = try await home.run("status").lines
            #expect(status.contains("process:   \(process)"), "\(status)")
            #expect(status.contains("socket:    \(home.root)/run/s"))
            #expect(status.contains("page:      off"))
            #expect(status.contains("log:       \(home.root)/state/daemon.log"))
            #expect(status.contains("downloads: 1 running"))
            #expect(status.first?.hasPrefix("running:   since 20") == true)
            let object = try #require(try await home.objects("status").first)
            #expect(object["running"] as? Bool == true && object["pid"] as? Int == Int(process))
            #expect((object["statistics"] as? [String: Any])?["running"] as? Int == 1)

            let stop = try await home.run("stop")
            #expect(
                stop.lines == [
                    "stopped (process \(process))",
                    "1 download continues at the next start: ferry add, ferry resume or ferry serve",
                ])
            #expect(!FileManager.default.fileExists(atPath: home.root + "/run/s"))
            let absent = try await home.ferry("status")
            #expect(absent.code == 11)
            #expect(absent.text.hasPrefix("not running, so nothing is being downloaded; ferry add starts it"))
            #expect(try FerryCLITests.objects(try await home.ferry("status", "--json").text).count == 1)
            #expect(try await home.run("stop").text == "no daemon is running\n")
            gate.open()
            // The next start resumes it, and may have completed it before the action arrives.
            let resumed = try await home.ferry("resume", "a")
            #expect(resumed.code == 0 || resumed.error.contains("it is complete"), "\(resumed.error)")
            #expect(try await home.ferry("watch", "a").code == 0)
            #expect(try await home.run("status").lines.contains("downloads: 1 completed"))
        }
    }

    @Test("ferry list, status and doctor: a catalogue that was damaged is told, and where it is")
    func damaged() async throws {
        try await RemoteHome.run { home in
            let state = home.root + "/state/sessions/daemon"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let catalogue = state + "/catalogue.sqlite"
            try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: catalogue))
            try await home.run("add", "--paused", home.server.url("/a"))
            let kept = catalogue + ".damaged-1"
            let list = try await home.ferry("list")
            #expect(list.code == 0 && list.lines.count == 2, "\(list.text)")
            #expect(
                list.error.hasPrefix(
                    "ferry: the list: it was damaged when the daemon started, and is kept as \(kept); "),
                "\(list.error)")
            let status = try await home.run("status").lines
            #expect(status.contains { $0.hasPrefix("list:      it was damaged") && $0.contains(kept) }, "\(status)")
            #expect(try await home.objects("status").first?["damagedCatalogue"] as? String == kept)
            let doctor = try await home.run("doctor")
            #expect(doctor.lines.contains { $0.hasPrefix("warning  list") && $0.hasSuffix(kept) }, "\(doctor.text)")
            // Another start finds a sound list; what was kept is told until it is removed.
            try await home.run("stop")
            try await home.run("add", "--paused", home.server.url("/b"))
            try await home.run("list")
            #expect(try await home.run("doctor").lines.contains { $0.hasPrefix("warning  list") })
        }
    }

    @Test("ferry stop: a daemon that does not answer is found by its lock")
    func withoutSocket() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            let process = try #require(home.daemon)
            #expect(unlink(home.root + "/run/s") == 0)
            #expect(try await home.run("stop").text == "stopped (process \(process))\n")
            #expect(try await home.run("stop").text == "no daemon is running\n")
        }
    }

    @Test("ferry stop, status and logs: a daemon of systemd is stopped through it, and its log is the journal's")
    func service() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            let process = try #require(home.daemon)
            let bin = home.place.path("bin")
            try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
            try Executable.write(
                """
                #!/bin/sh
                echo "$*" >> "\(bin)/calls"
                case "$2" in show) echo \(process);; stop) kill \(process);; esac
                """, to: bin + "/systemctl")
            try FileManager.default.createDirectory(
                atPath: home.place.path("config/systemd/user"), withIntermediateDirectories: true)
            try home.place.write("", to: "config/systemd/user/ferry.service")
            let environment = ["PATH": bin + ":/usr/bin:/bin", "XDG_CONFIG_HOME": home.place.path("config")]
            let status = try await home.ferry("status", environment: environment)
            #expect(status.lines.contains("process:   \(process), started by systemd"))
            #expect(status.lines.contains("log:       journalctl --user -u ferry.service"))
            let logs = try await home.ferry("logs", environment: environment)
            #expect(logs.text == "")
            #expect(logs.error.hasSuffix("show it with: journalctl --user -u ferry.service\n"))
            let stop = try await home.ferry("stop", environment: environment)
            #expect(stop.code == 0, "\(stop.error)")
            #expect(stop.text == "stopped (process \(process))\n")
            #expect(
                stop.error
                    == "ferry: systemd starts it again at the next login; ferry service uninstall ends that\n")
            let calls = try String(contentsOfFile: bin + "/calls", encoding: .utf8)
            #expect(calls.hasSuffix("--user stop ferry.service\n"), "\(calls)")
        }
    }

    @Test("ferry logs: it shows the last lines, and names the log that is not there")
    func logs() async throws {
        try await RemoteHome.run { home in
            let absent = try await home.ferry("logs")
            #expect(absent.code == 2)
            #expect(absent.error.hasPrefix("ferry: there is no log \(home.root)/state/daemon.log; a daemon on a"))
            try await home.run("add", "--paused", home.server.url("/a"))
            try await home.run("stop")
            let log = try String(contentsOfFile: home.root + "/state/daemon.log", encoding: .utf8)
            #expect(try await home.run("logs", "-n", "100").text == log)
            #expect(
                try await home.run("logs", "-n", "1").lines == [String(try #require(log.split(separator: "\n").last))])
        }
    }
}
