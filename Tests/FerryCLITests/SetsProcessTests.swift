import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

@Suite("The binary: sets in the daemon", .serialized, .timeLimit(.minutes(30))) struct SetsProcessTests {
    @Test(
        "ferry sync --daemon, ferry sets: a daemon that is killed again and again completes the set, and every file is right"
    )
    func killed() async throws {
        try await OriginServer.with { server in
            let names = (1...30).map { "f\($0).bin" }
            server.serve(
                "/pub/",
                Resource(text: names.map { "<a href=\"\($0)\">\($0)</a>\n" }.joined(), contentType: "text/html"))
            for (index, name) in names.enumerated() {
                server.serve("/pub/" + name, Resource(size: 300_000, seed: UInt64(index)))
            }
            server.setConnectionRate(3_000_000)
            let place = try Workplace()
            let environment = ServeProcess.environment(place)
            func ferry(_ arguments: String...) async throws -> FerryProcess.Outcome {
                try await FerryProcess.run(arguments, in: place, environment: environment)
            }
            var daemon = try await ServeProcess.start(in: place)
            let added = try await ferry("sync", server.url("/pub/"), "d", "--daemon")
            #expect(added.code == 0 && added.lines.count == 1 && added.error.isEmpty, "\(added.error)")
            let id = try #require(added.lines.first)
            let again = try await ferry("sync", server.url("/pub/"), "d", "--daemon", "--json")
            #expect(again.code == 0 && again.output.contains(id), "\(again.output)")
            #expect(again.error == "ferry: already listed, and being synced: \(place.path("d"))\n", "\(again.error)")
            for _ in 0..<8 {
                // A random moment: what matters is that no moment loses anything.
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...500)))
                daemon.process.signal(SIGKILL)
                _ = try await daemon.process.outcome()
                daemon = try await ServeProcess.start(in: place)
            }
            let ended = try await daemon.follow { (event: StreamEvent) -> FileSet? in
                switch event {
                case .set(let set): set.state.isActive ? nil : set
                case .reset(let snapshot): snapshot.sets?.first { !$0.state.isActive }
                default: nil
                }
            }
            let set = try #require(ended)
            #expect(set.state == .complete && set.done == 30, "\(set)")
            for (index, name) in names.enumerated() {
                let resource = Resource(size: 300_000, seed: UInt64(index))
                #expect(try place.data("d/" + name) == Data(resource.bytes(0..<resource.size)))
            }
            let listed = try await ferry("sets")
            #expect(
                listed.lines == ["\(id.prefix(6))  complete, 30 files  \(place.path("d"))"], "\(listed.lines)")
            #expect(try await ferry("verify", "d").code == 0)
            #expect(try await ferry("list", "--session", "all").lines.count <= 1)
            let refused = try await ferry("sets", "pause", id)
            #expect(refused.code == 9 && refused.error.contains("it is not being synced"), "\(refused.error)")
            #expect(try await ferry("sets", "pause", "all").code == 0)
            let synced = try await ferry("sync", server.url("/pub/"), "d", "--daemon")
            #expect(
                synced.lines == [id] && synced.error.contains("already listed, and synced again"), "\(synced.error)")
            let removed = try await ferry("sets", "remove", String(id.prefix(4)))
            #expect(removed.code == 0 && removed.lines == ["removed: \(place.path("d"))"], "\(removed.output)")
            #expect(try await ferry("sets").error.contains("there are no sets"))
            for (arguments, text) in [
                (["sets", "frob"], "is not an action on sets"), (["sets", "pause"], "name the sets, or all"),
                (["sets", "pause", "zzz"], "no set begins with"),
                (["sync", server.url("/pub/"), "d", "--daemon", "--dry-run"], "cannot be used together"),
                (["sync", server.url("/pub/"), "d", "--daemon", "-H", "A: b"], "cannot be used with --daemon"),
            ] {
                let outcome = try await FerryProcess.run(arguments, in: place, environment: environment)
                #expect(outcome.code == 2 && outcome.error.contains(text), "\(arguments): \(outcome.error)")
            }
            try await daemon.stop()
        }
    }

    @Test("ferry sets: a set whose list cannot be read says why, and when it is read again")
    func retried() async throws {
        try await OriginServer.with { server in
            server.serve("/pub/", Resource(text: "<html><a href=\"a\">a</a></html>", contentType: "text/html"))
            server.serve("/pub/a", Resource(size: 1000, seed: 1))
            server.always("/pub/", .status(503, retryAfter: "600"))
            let place = try Workplace()
            let environment = ServeProcess.environment(place)
            func ferry(_ arguments: String...) async throws -> FerryProcess.Outcome {
                try await FerryProcess.run(arguments, in: place, environment: environment)
            }
            let daemon = try await ServeProcess.start(in: place)
            let added = try await ferry("sync", server.url("/pub/"), "d", "--daemon")
            let id = try #require(added.lines.first, "\(added.error)")
            _ = try await daemon.follow { (event: StreamEvent) -> FileSet? in
                switch event {
                case .set(let set): set.until == nil ? nil : set
                case .reset(let snapshot): snapshot.sets?.first { $0.until != nil }
                default: nil
                }
            }
            let listed = try await ferry("sets")
            let line = try #require(listed.lines.first, "\(listed.error)")
            #expect(
                line.hasPrefix(
                    "\(id.prefix(6))  syncing: \(server.url("/pub/")): the server answered 503; next attempt at 20"),
                "\(line)")
            #expect(line.hasSuffix("  " + place.path("d")), "\(line)")
            let set = try #require(try objects(try await ferry("sets", "--json").text).first)
            #expect((set["error"] as? [String: Any])?["code"] as? String == "network" && set["until"] != nil)
            try await daemon.stop()
        }
    }
}
