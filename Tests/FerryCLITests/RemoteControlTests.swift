import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

@Suite("The binary: remote control", .serialized, .timeLimit(.minutes(30))) struct RemoteControlTests {
    private static let resource = Resource(size: 300_000, seed: 5)

    @Test("ferry add: it starts the daemon and prints the id; watch, list and show report the download")
    func whole() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a.bin", Self.resource)
            let added = try await home.run("add", home.server.url("/a.bin"))
            let words = added.text.split(separator: " ")
            #expect(words.count == 2)
            #expect(words[1] == "a.bin\n")
            let id = String(words[0])
            let watched = try await home.ferry("watch", String(id.prefix(7)))
            #expect(watched.code == 0, "\(watched.error)")
            let listed = try #require(try await home.objects("list").first)
            #expect(listed["id"] as? String == id)
            #expect(listed["state"] as? String == "completed")
            #expect(listed["path"] as? String == home.path("a.bin"))
            // The daemon logs to a file: its standard error is not shown.
            let log = try String(contentsOfFile: home.root + "/state/daemon.log", encoding: .utf8)
            #expect(log.contains("listening") && log.contains(id), "\(log)")
            #expect(Self.resource.source.compare(file: home.path("a.bin"), size: Self.resource.size) == .equal)
            #expect(
                try await home.run("list").lines.map { $0.split(separator: " ").map(String.init) } == [
                    ["ID", "STATE", "DONE", "SIZE", "SPEED", "LEFT", "NAME"],
                    [String(id.prefix(6)), "completed", "100.0%", "300.0", "KB", "-", "-", "a.bin"],
                ])
            #expect(try await home.run("list", "--limit", "1").lines.last?.hasPrefix(id + "  ") == true)
            #expect(try await home.run("list", "--state", "completed").lines.last?.hasPrefix(id + "  ") == true)
            let shown = try await home.run("show", "a.bin").text
            for part in [
                "state:       completed, proof: single", "Started: a.bin, 300.0 KB", home.server.url("/a.bin"),
            ] {
                #expect(shown.contains(part), "\(shown)")
            }
            // The same URL again is the same download, with a note.
            let again = try await home.ferry("add", home.server.url("/a.bin"))
            #expect(again.code == 0)
            #expect(again.text == added.text)
            #expect(again.error == "ferry: already listed: a.bin (completed); --again adds another\n")
            #expect(try await home.objects("list").count == 1)
        }
    }

    @Test("Remote control: without a daemon a command is exit code 11, names what starts it, and starts none")
    func absent() async throws {
        try await RemoteHome.run { home in
            for command in [["list"], ["show", "x"], ["pause", "all"], ["set", "limit=1M"], ["watch"], ["clear"]] {
                let outcome = try await FerryProcess.run(command, in: home.place, environment: home.environment)
                #expect(outcome.code == 11)
                #expect(
                    outcome.error
                        == "ferry: no daemon is running, so nothing is being downloaded; ferry add starts it, as does ferry serve\n"
                )
                #expect(outcome.text == "")
            }
            let failure = try #require(try FerryCLITests.objects(try await home.ferry("list", "--json").text).first)
            #expect((failure["error"] as? [String: Any])?["code"] as? String == "daemonUnavailable")
            #expect(home.daemon == nil)
        }
    }

    @Test(
        "ferry set retry-failed=: an earlier failure is retried, and list and show say when; a 404 has a command instead"
    )
    func retried() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a.bin", Self.resource)
            home.server.always("/a.bin", .status(503))
            try await home.run("add", "--retries", "0", home.server.url("/a.bin"))
            #expect(try await home.ferry("watch", "a.bin").code != 0)
            #expect(try await home.run("list").text.contains("; to try it again: ferry resume "))
            try await home.run("set", "retry-failed=1h")
            let failed = try #require(try await home.objects("list").first)
            #expect(failed["state"] as? String == "failed" && failed["retryAt"] is String, "\(failed)")
            for text in [try await home.run("list").text, try await home.run("show", "a.bin").text] {
                #expect(text.contains("; next attempt at ") && !text.contains("ferry resume"), "\(text)")
            }
            home.server.always("/a.bin", .honest)
            try await home.run("set", "retry-failed=1s")
            _ = try await home.server.waitFor { $0.requests.last?.status == 200 }
            #expect(try await home.ferry("watch", "a.bin").code == 0)
            try await home.run("add", home.server.url("/gone"))
            #expect(try await home.ferry("watch", "gone").code == 4)
            let gone = try #require(try await home.objects("show", "gone").first)
            #expect(gone["retryAt"] == nil)
            #expect(try await home.run("list").text.contains("answered 404; continue with: ferry set "))
        }
    }

    @Test("ferry set dir=: a directory that is not writable is refused, and the setting stays")
    func unwritable() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            try home.place.write("", to: "file")
            let refused = try await home.ferry("set", "dir=" + home.place.path("file/below"))
            #expect(refused.code == 8 && refused.error.contains(home.place.path("file")), "\(refused.error)")
            let settings = try await home.run("set").text
            #expect(!settings.contains("file/below"), "\(settings)")
            try await home.run("set", "dir=" + home.place.path("new"))
            #expect(try await home.run("set").text.contains(home.place.path("new")))
        }
    }

    @Test("ferry set dir=: the current directory is accepted, even if it is not writable any more, and no other one is")
    func sameDirectory() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            // The names are canonically equivalent, but name different files.
            let names = ["caf\u{E9}", "cafe\u{301}"].map { home.place.url.path + "/" + $0 }
            try await home.run("set", "dir=" + names[0])
            // Foundation would give both the same name.
            for name in names { fclose(try #require(fopen(name, "w"))) }
            try await home.run("set", "dir=" + names[0], "max-concurrent=3")
            let settings = try await home.objects("set").first
            #expect(settings?["maxConcurrentDownloads"] as? Int == 3)
            for other in [names[1], names[0] + "/below"] {
                let refused = try await home.ferry("set", "dir=" + other)
                #expect(refused.code == 8, "\(other): \(refused.error)")
            }
            #expect(try await home.objects("set").first?["directory"] as? String == names[0])
        }
    }

    @Test("ferry add: a daemon that cannot be started is exit code 11, without the advice to start it so")
    func unstartable() async throws {
        try await RemoteHome.run { home in
            let broken = home.place.path("broken")
            try Executable.write("#!/bin/sh\nexit 1\n", to: broken)
            let outcome = try await home.ferry("add", home.server.url("/a"), environment: ["FERRY_BINARY": broken])
            #expect(outcome.code == 11)
            #expect(outcome.error.hasPrefix("ferry: \(broken) could not be started as the daemon"))
            #expect(!outcome.error.contains("ferry add starts it"), "\(outcome.error)")
        }
    }

    @Test("Remote control: downloads are paused, resumed, cancelled, moved, changed, removed and cleared")
    func acted() async throws {
        try await RemoteHome.run { home in
            let gate = Gate()
            for name in ["a", "b", "c"] {
                home.server.serve("/" + name, Self.resource)
                home.server.always("/" + name, .hold(gate))
            }
            let urls = ["a", "b", "c"].map { home.server.url("/" + $0) }
            try await home.run("add", "--paused", urls[0], urls[1], urls[2])
            func names() async throws -> [String] {
                try await home.objects("list").compactMap { $0["name"] as? String }
            }
            func states() async throws -> [String] {
                try await home.objects("list").compactMap { $0["state"] as? String }
            }
            #expect(try await states() == ["paused", "paused", "paused"])
            #expect(try await home.run("move", "c", "first").text == "moved: c\n")
            #expect(try await names() == ["c", "a", "b"])
            try await home.run("move", "c", "after", "a")
            #expect(try await names() == ["a", "c", "b"])
            try await home.run("move", "b", "2")
            #expect(try await names() == ["a", "b", "c"])
            #expect(try await home.run("set", "c", "priority=high", "label=l", "limit=1M").text == "changed: c\n")
            #expect(try await names() == ["c", "a", "b"])
            // A download moves among those of its priority.
            #expect(try await home.run("move", "c", "last").text == "moved: c, among those of the priority high\n")
            let other = try await home.ferry("move", "a", "before", "c")
            #expect(other.code != 0)
            #expect(
                other.error.contains("c is not listed among those of the same priority; a download moves"),
                "\(other.error)")
            #expect(try await names() == ["c", "a", "b"])
            try await home.run("add", home.server.url("/gone"))
            #expect(try await home.ferry("watch", "gone").code == 4)
            let failed = try #require(try await home.objects("show", "gone").first?["id"] as? String)
            #expect(
                try await home.run("set", "gone", "label=l").text
                    == "changed: gone; it has failed; to try it again: ferry resume \(failed)\n")
            #expect(
                try await home.ferry("restart", "gone").error
                    == "ferry: gone cannot be restarted: it has failed; ferry resume tries it again\n")
            try await home.run("remove", "gone")
            let changed = try #require(try await home.objects("show", "c").first)
            #expect(changed["label"] as? String == "l")
            #expect(changed["rateLimit"] as? Int == 1_000_000)

            #expect(
                try await home.run("set", "max-concurrent=2", "limit=5MB", "metered=off").lines.prefix(4) == [
                    "max-concurrent=2", "limit=5000000", "connections-per-host=16", "metered=off",
                ])
            #expect(try await home.objects("set").first?["maxConcurrentDownloads"] as? Int == 2)

            #expect(try await home.run("resume", "a").text == "resumed: a\n")
            await gate.arrived(1)
            #expect(try await home.run("resume", "a").text == "unchanged: a (downloading)\n")
            #expect(try await home.run("resume", "all").text == "resumed: 2 downloads\n")
            #expect(try await home.run("pause", "all").text == "paused: 3 downloads\n")
            #expect(try await states() == ["paused", "paused", "paused"])
            #expect(try await home.run("cancel", "b").text == "cancelled: b\n")
            #expect(try await home.run("cancel", "b").text == "unchanged: b (cancelled)\n")
            let refused = try await home.ferry("pause", "b", "c")
            #expect(refused.code == 9)
            #expect(refused.error == "ferry: b cannot be paused: it was cancelled\n")
            let resumed = try await home.ferry("resume", "b")
            #expect(resumed.code == 9 && resumed.text == "")
            #expect(
                resumed.error
                    == "ferry: b cannot be resumed: it was cancelled; ferry restart downloads it again\n")
            #expect(try await home.run("restart", "b").text == "restarted: b\n")
            #expect(try await home.run("cancel", "b").text == "cancelled: b\n")
            #expect(refused.text == "unchanged: c (paused)\n")
            #expect(try await home.run("clear", "cancelled").text == "removed: 1 download\n")
            #expect(try await home.run("remove", "a", "c").lines == ["removed: a", "removed: c"])
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
            gate.open()
        }
    }

    @Test("ferry add -i: a list is added with its options and time, and a malformed line is reported")
    func lists() async throws {
        try await RemoteHome.run { home in
            for name in ["a", "b"] { home.server.serve("/" + name, Self.resource) }
            try home.place.write(
                "\(home.server.url("/a"))\n  out=x.bin\n\(home.server.url("/b"))\nno URL\n", to: "list")
            let outcome = try await home.ferry("add", "-i", "list", "--at", "+2h", "--json")
            // Usable lines are added, and unusable ones are reported.
            #expect(outcome.code == 2)
            #expect(outcome.error.contains("list: line 4"))
            let added = try FerryCLITests.objects(outcome.text)
            #expect(added.compactMap { $0["name"] as? String } == ["x.bin", "b"])
            #expect(added.compactMap { $0["waitReason"] as? String } == ["notBefore", "notBefore"])
            #expect(home.server.requests.isEmpty)
        }
    }

    @Test("ferry relocate: a finished file is moved to another directory")
    func relocated() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a", Self.resource)
            try await home.run("add", home.server.url("/a"))
            _ = try await home.ferry("watch", "a")
            let outcome = try await home.run("relocate", "a", "elsewhere")
            #expect(outcome.text == "moved to: \(home.place.path("elsewhere/a"))\n")
            #expect(
                Self.resource.source.compare(file: home.place.path("elsewhere/a"), size: Self.resource.size) == .equal)
            #expect(!FileManager.default.fileExists(atPath: home.path("a")))
            // An empty name was the current directory.
            let empty = try await home.ferry("relocate", "a", "")
            #expect(empty.code == 2 && empty.error.contains("the name of the directory is empty"), "\(empty.error)")
            #expect(FileManager.default.fileExists(atPath: home.place.path("elsewhere/a")))
        }
    }

    @Test("ferry watch: without a terminal it prints events and ends with the outcome of the named downloads")
    func plainWatch() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a", Self.resource)
            home.server.serve("/bad", Self.resource)
            home.server.always("/bad", .status(451))
            try await home.run("add", "--paused", home.server.url("/a"), home.server.url("/bad"))
            // On a terminal, so that the start of watching is visible.
            let watch = try FerryProcess(
                ["watch", "a", "bad", "--json"], in: home.place, environment: home.environment,
                error: .terminal(columns: 200, lines: 24), shell: "exec \"$@\" >&2")
            await watch.waitForTerminal("\"reset\"")
            try await home.run("resume", "all")
            let outcome = try await watch.outcome()
            #expect(outcome.code == 4)
            let events = try FerryCLITests.objects(outcome.terminal.replacing("\r\n", with: "\n"))
            #expect(events.first?["kind"] as? String == "reset")
            #expect(events.contains { $0["kind"] as? String == "state" })
            // Both have ended: only a summary tells how.
            let lines = try await home.ferry("watch", "a", "bad")
            #expect(lines.code == 4)
            let told = lines.error.split(separator: "\n").map(String.init)
            #expect(told.count == 3 && told.first == "a: done, \(home.path("a"))", "\(told)")
            #expect(told.dropFirst().first?.hasPrefix("ferry: bad: the server answered 451") == true, "\(told)")
            #expect(told.last == "1 failed, 1 completed")
            // The reason is below the line of the table.
            let table = try await home.run("list").lines
            #expect(table.count == 4 && table.last?.hasPrefix("  the server answered 451") == true, "\(table)")
        }
    }

    @Test("Remote control: downloads of an app are found with --session only")
    func sessions() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            var new = DownloadRequest(sources: [try DownloadURL(home.server.url("/b"))], destination: .directory(""))
            new.startsPaused = true
            let client = DaemonClient(socket: home.root + "/run/s", session: "app")
            let added = try await client.send(DaemonCall(.add, json: new), as: ListedDownload.self)
            let id = added.id.rawValue
            let unknown = try await home.ferry("show", id)
            #expect(unknown.code == 2)
            #expect(
                unknown.error
                    == "ferry: no download is called \(id), and no identifier begins with it; run ferry list to see all\n"
            )
            for session in ["app", "all"] {
                let shown = try #require(try await home.objects("show", id, "--session", session).first)
                #expect(shown["session"] as? String == "app")
            }
            #expect(try await home.run("list", "--session", "all", "--names").lines.sorted() == ["a", "b"])
            let title = try #require(try await home.run("list", "--session", "all").lines.first)
            #expect(title.hasSuffix("SESSION  NAME"))
            #expect(try await home.run("set", "b", "label=l", "--session", "app").text == "changed: b\n")
            #expect(try await home.ferry("set", "limit=1M", "--session", "app").code == 2)
            #expect(try await home.run("remove", "all", "--session", "app").text == "removed: 1 download\n")
            #expect(try await home.objects("list", "--session", "all").count == 1)
        }
    }

    @Test(
        "ferry set: a download waiting for a login continues with a user, a header or a URL with user info",
        arguments: ["user", "header", "url"])
    func login(way: String) async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a", Self.resource)
            home.server.always("/a", .basicAuth("me", "sesame"))
            let url = home.server.url("/a")
            try await home.run("add", "--paused", url)
            let watch = try FerryProcess(
                ["watch", "a", "--json"], in: home.place, environment: home.environment,
                error: .terminal(columns: 200, lines: 24), shell: "exec \"$@\" >&2")
            await watch.waitForTerminal("\"reset\"")
            try await home.run("resume", "a")
            await watch.waitForTerminal("\"waitReason\":\"credentials\"")
            let shown = try await home.run("show", "a").text
            #expect(shown.contains("waiting: login; the server answered 401"))
            #expect(shown.contains("continue with: ferry set "))
            let words =
                switch way {
                case "user": ["--user", "me:sesame"]
                case "header": ["--header", "Authorization: Basic bWU6c2VzYW1l"]
                default: ["url=" + url.replacing("http://", with: "http://me:sesame@")]
                }
            let outcome = try await FerryProcess.run(
                ["set", "a"] + words, in: home.place, environment: home.environment)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try await watch.outcome().code == 0)
            #expect(Self.resource.source.compare(file: home.path("a"), size: Self.resource.size) == .equal)
        }
    }

    @Test("ferry watch: it ends with the daemon's refusal, as list does")
    func refusedWatch() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            let listed = try await home.ferry("list", "--session", "bad/name")
            #expect(listed.code == 2)
            let watched = try await home.ferry("watch", "--session", "bad/name")
            #expect(watched.code == 2)
            #expect(watched.error == listed.error)
            for (words, message) in [
                (["--session", "nosuch"], "there is no session \"nosuch\": there are default"),
                (["--search", "nosuch"], "no download matches"),
            ] {
                let outcome = try await FerryProcess.run(
                    ["list"] + words, in: home.place, environment: home.environment)
                #expect(
                    outcome.code == 0 && outcome.text == "" && outcome.error == "ferry: \(message)\n",
                    "\(outcome.error)")
            }
            let failure = try await home.ferry("watch", "--session", "bad/name", "--json")
            #expect(failure.code == 2)
            let error = try #require(try FerryCLITests.objects(failure.text).first?["error"] as? [String: Any])
            #expect(error["code"] as? String == "invalidRequest")
        }
    }

    @Test("Remote control: a usage error is one line and exit code 2")
    func usage() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"), home.server.url("/b"))
            let cases: [([String], String)] = [
                (["pause"], "is missing"),
                (["set", "speed=1"], "there is no setting speed"), (["set", "a"], "nothing to set"),
                (["list", "--state", "lost"], "--state lost"), (["list", "--sort", "luck"], "--sort luck"),
                (["move", "a", "somewhere"], "where to?"), (["clear", "some"], "some cannot be cleared"),
                (["add", "http://x/", "--at", "soon"], "soon is not a time"), (["add", "ftp://x/"], "ftp"),
                (["set", "max-concurrent=5000"], "max-concurrent=5000: write a number from 1 to 1000"),
            ]
            for (arguments, message) in cases {
                let outcome = try await FerryProcess.run(arguments, in: home.place, environment: home.environment)
                #expect(outcome.code == 2, "\(arguments)")
                #expect(outcome.error.contains(message), "\(outcome.error)")
                #expect(outcome.error.hasSuffix("(see ferry \(arguments[0]) --help)\n"), "\(outcome.error)")
                #expect(outcome.error.split(separator: "\n").count == 1)
            }
        }
    }

    @Test(
        "Remote control: with --json a failure is one object on standard output",
        arguments: [
            (["list", "--state", "bogus"], "invalidRequest"), (["pause", "nobody"], "notFound"),
            (["list", "--nonsense"], "invalidRequest"), (["pause"], "invalidRequest"),
        ])
    func usageInJSON(words: [String], code: String) async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            let outcome = try await FerryProcess.run(
                words + ["--json"], in: home.place, environment: home.environment)
            #expect(outcome.code == 2)
            let lines = try FerryCLITests.objects(outcome.text)
            #expect(lines.count == 1)
            #expect(lines.first?["v"] as? Int == 1 && lines.first?["kind"] as? String == "failed")
            let error = try #require(lines.first?["error"] as? [String: Any])
            #expect(error["code"] as? String == code)
            #expect(outcome.error.hasPrefix("ferry: "))
        }
    }

    @Test("ferry web --print: it prints an address with a code, or the reason when no page is served")
    func web() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            let closed = try await home.ferry("web", "--print")
            #expect(closed.code == 2)
            #expect(closed.error.contains("serves no page"))
        }
        try await RemoteHome.run { home in
            let page = ["FERRY_LOOPBACK": "true", "FERRY_PORT": "0"]
            let outcome = try await home.ferry("web", "--print", environment: page)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(
                outcome.text.wholeMatch(of: ##/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+\n/##) != nil, "\(outcome.text)")
        }
    }

    @Test(
        "ferry --generate-completion-script: each shell's script has the commands and states",
        arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let outcome = try await FerryProcess.run(["--generate-completion-script", shell], in: try Workplace())
        #expect(outcome.code == 0)
        let directories = ["bash": "add_completions -d", "zsh": "_files -/", "fish": "_complete_directories"]
        for word in ["relocate", "doctor", "paused", "cancelled", "ferry list --names", directories[shell] ?? ""] {
            #expect(outcome.text.contains(word), "\(word)")
        }
    }

    @Test("Remote control: a download that its server keeps waiting says why in list and show")
    func serverWaits() async throws {
        try await RemoteHome.run { home in
            let gate = Gate()
            for name in ["a", "b"] {
                home.server.serve("/" + name, Self.resource)
                home.server.always("/" + name, .hold(gate))
            }
            let budget = ["FERRY_HOST_CONNECTIONS": "1"]
            let added = try await home.ferry(
                "add", home.server.url("/a"), home.server.url("/b"), environment: budget)
            #expect(added.code == 0)
            await gate.arrived(1)
            let reason = "as many downloads of 127.0.0.1 run as its budget permits: 1"
            let list = try await home.run("list").lines
            #expect(list.contains { $0.contains("waiting: server") } && list.contains("  " + reason), "\(list)")
            #expect(try await home.run("show", "b").text.contains(reason))
            let shown = try #require(try await home.objects("list").last)
            #expect(shown["waitReason"] as? String == "server")
            let chinese = try await home.ferry("list", environment: ["LC_ALL": "zh_CN.UTF-8"])
            #expect(chinese.text.contains("等待服务器") && chinese.text.contains("127.0.0.1 正在运行的下载数已达到其预算上限：1"))
        }
    }
}
