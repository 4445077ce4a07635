import FerryTesting
import Foundation
import Testing

@Suite("The binary: cancelling and removing", .serialized, .timeLimit(.minutes(30))) struct RemoteRemovalTests {
    private static let resource = Resource(size: 300_000, seed: 5)

    @Test("ferry remove: a download whose file was replaced stays with exit code 9, and the others are removed")
    func removed() async throws {
        try await RemoteHome.run { home in
            for name in ["a", "b"] { home.server.serve("/" + name, Self.resource) }
            try await home.run("add", home.server.url("/a"), home.server.url("/b"))
            _ = try await home.ferry("watch", "a", "b")
            try Data("mine".utf8).write(to: URL(filePath: home.path("b")))
            let outcome = try await home.ferry("remove", "all", "--delete-files")
            #expect(outcome.code == 9)
            #expect(outcome.text == "removed: 1 download\n")
            #expect(outcome.error.hasPrefix("ferry: \(home.path("b")) is no longer the file that was downloaded"))
            #expect(outcome.error.split(separator: "\n").count == 1)
            #expect(outcome.error.hasSuffix("; without --delete-files it leaves the list, and the file stays\n"))
            #expect(!FileManager.default.fileExists(atPath: home.path("a")))
            let again = try await home.ferry("remove", "b", "--delete-files", "--json")
            #expect(again.code == 9)
            let error = try #require(try FerryCLITests.objects(again.text).first?["error"] as? [String: Any])
            #expect(error["code"] as? String == "conflict")
            #expect(try await home.run("remove", "b").text == "removed: b\n")
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
        }
    }

    @Test("ferry clear --delete-files: a file that was changed since stays and is named, with exit code 9")
    func cleared() async throws {
        try await RemoteHome.run { home in
            for name in ["a", "b"] { home.server.serve("/" + name, Self.resource) }
            try await home.run("add", home.server.url("/a"), home.server.url("/b"))
            _ = try await home.ferry("watch", "a", "b")
            try Data("mine".utf8).write(to: URL(filePath: home.path("b")))
            let outcome = try await home.ferry("clear", "--delete-files")
            #expect(outcome.code == 9)
            #expect(outcome.text == "removed: 2 downloads\n")
            #expect(outcome.error.hasPrefix("ferry: \(home.path("b")) is no longer the file that was downloaded"))
            #expect(outcome.error.hasSuffix(" and was not deleted\n"), "\(outcome.error)")
            #expect(!FileManager.default.fileExists(atPath: home.path("a")))
            #expect(try String(contentsOfFile: home.path("b"), encoding: .utf8) == "mine")
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
        }
    }

    /// Adds `/a.bin`, whose server sends so many bytes, and pauses it when it has them.
    private func pause(_ home: RemoteHome, _ resource: Resource, after bytes: Int) async throws {
        home.server.serve("/a.bin", resource)
        home.server.script("/a.bin", [.hold(after: Int64(bytes), Gate())])
        try await home.run("add", "-x", "1", home.server.url("/a.bin"))
        var received = 0
        while received < bytes {
            let progress = try await home.objects("list").first?["progress"] as? [String: Any]
            received = progress?["completedBytes"] as? Int ?? 0
        }
        try await home.run("pause", "a.bin")
    }

    @Test("ferry cancel --keep: the download leaves the list, and ferry get goes on with its part file")
    func kept() async throws {
        try await RemoteHome.run { home in
            let resource = Resource(size: 2_000_000, seed: 4)
            try await pause(home, resource, after: 1_500_000)
            let part = home.path("a.bin.part")
            let keep = try await home.run("cancel", "--keep", "a.bin")
            #expect(keep.text == "off the list: a.bin; to resume: ferry get \(part)\n")
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
            let rest = try await home.ferry("get", part)
            #expect(rest.code == 0, "\(rest.error)")
            #expect(resource.source.compare(file: home.path("a.bin"), size: resource.size) == .equal)
            #expect(try await home.ferry("remove", "--keep", "--delete-files", "a.bin").code == 2)
        }
    }

    @Test(
        "ferry watch: a download that is removed before its end is named, with exit code 9",
        arguments: [["remove"], ["cancel", "--keep"]])
    func removedWhileWatched(words: [String]) async throws {
        try await RemoteHome.run { home in
            for name in ["/a.bin", "/b.bin"] { home.server.serve(name, Self.resource) }
            try await home.run("add", home.server.url("/b.bin"))
            #expect(try await home.ferry("watch", "b.bin").code == 0)
            try await home.run("add", "--paused", home.server.url("/a.bin"))
            let watch = try FerryProcess(
                ["watch", "a.bin", "b.bin"], in: home.place, environment: home.environment,
                error: .terminal(columns: 120, lines: 24))
            await watch.waitForTerminal("1 paused")
            let outcome = try await FerryProcess.run(
                words + ["a.bin"], in: home.place, environment: home.environment)
            #expect(outcome.code == 0, "\(outcome.error)")
            let watched = try await watch.outcome()
            #expect(watched.code == 9)
            // If the cancellation arrives before the removal, it is the end.
            let ends = ["ferry: a.bin: removed from the list before it was complete", "a.bin: cancelled"]
            #expect(ends.contains { watched.terminal.contains($0) }, "\(watched.terminal)")
            #expect(watched.terminal.contains("b.bin: done, "), "\(watched.terminal)")
        }
    }

    @Test("ferry cancel --keep: a download that has received nothing leaves the list, with exit code 0")
    func keptNothing() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a.bin", Resource(size: 2_000_000, seed: 4))
            try await home.run("add", "--paused", home.server.url("/a.bin"))
            let keep = try await home.ferry("cancel", "--keep", "a.bin")
            #expect(keep.code == 0, "\(keep.error)")
            #expect(keep.text == "off the list: a.bin; nothing was received yet\n")
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
        }
    }

    @Test("ferry cancel --keep: a part file that ferry get has taken over stays, and its path is printed")
    func keptOfAnother() async throws {
        try await RemoteHome.run { home in
            let resource = Resource(size: 2_000_000, seed: 4)
            try await pause(home, resource, after: 1_500_000)
            home.server.script("/a.bin", [.hold(after: 250_000, Gate())])
            let part = home.path("a.bin.part")
            let get = try FerryProcess(
                ["get", "-x", "1", "--min-free", "0", part], in: home.place, environment: home.environment,
                error: .terminal(columns: 120, lines: 24))
            await get.waitForTerminal("87.5%")
            get.signal(SIGINT)
            #expect(try await get.outcome().code == 130)
            let keep = try await home.run("cancel", "--keep", "a.bin")
            #expect(keep.text == "off the list: a.bin; to resume: ferry get \(part)\n")
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
            let rest = try await home.ferry("get", part)
            #expect(rest.code == 0, "\(rest.error)")
            #expect(resource.source.compare(file: home.path("a.bin"), size: resource.size) == .equal)
        }
    }

    @Test("ferry cancel --keep: of a part file that ferry get has completed, nothing is left, and the file stays")
    func keptOfCompleted() async throws {
        try await RemoteHome.run { home in
            let resource = Resource(size: 2_000_000, seed: 4)
            try await pause(home, resource, after: 1_500_000)
            #expect(try await home.ferry("get", home.path("a.bin.part")).code == 0)
            let keep = try await home.run("cancel", "--keep", "a.bin")
            #expect(keep.text == "off the list: a.bin; no part of it is left to resume\n")
            #expect(try await home.ferry("list").error == "ferry: there are no downloads\n")
            #expect(resource.source.compare(file: home.path("a.bin"), size: resource.size) == .equal)
        }
    }

    @Test(
        "ferry cancel: on a terminal it asks before it deletes much, and --yes or a no decide",
        arguments: [true, false])
    func asked(isMeant: Bool) async throws {
        try await RemoteHome.run { home in
            try await pause(home, Resource(size: 20_000_000, seed: 4), after: 15_000_000)
            let cancel = try FerryProcess(
                ["cancel", "all"], in: home.place, environment: home.environment,
                error: .terminal(columns: 90, lines: 24), shell: "exec setsid -c -w \"$@\" <&2")
            await cancel.waitForTerminal("cancel all downloads and delete 1")
            cancel.type(isMeant ? "y\n" : "n\n")
            let outcome = try await cancel.outcome()
            #expect(outcome.code == (isMeant ? 0 : 130))
            let states = try await home.objects("list").compactMap { $0["state"] as? String }
            #expect(states == [isMeant ? "cancelled" : "paused"])
            if !isMeant { #expect(try await home.run("cancel", "-y", "a.bin").text == "cancelled: a.bin\n") }
        }
    }
}
