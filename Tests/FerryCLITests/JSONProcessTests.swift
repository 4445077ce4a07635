import FerryTesting
import Foundation
import Testing

@Suite("The binary: --json", .serialized, .timeLimit(.minutes(30))) struct JSONProcessTests {
    private static let resource = Resource(size: 3_000_000, seed: 61)

    /// The events of docs/cli.md with their fields, those of every event first.
    private static func documented() throws -> [String: [String]] {
        try Documentation("cli.md").rows(after: "| kind | member |").reduce(into: [:]) { events, row in
            events[row[0], default: []] += row[1].isEmpty ? [] : [row[1]]
        }
    }

    @Test("ferry get --json: every line has exactly the documented fields, and each file ends once")
    func fields() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 1_500_000), .drop(), .drop()])
            server.serve("/wrong", Self.resource)
            server.serve("/secret", Self.resource)
            server.always("/secret", .basicAuth("a", "b"))
            let place = try Workplace()
            let list = """
                \(server.url("/f.bin"))
                \(server.url("/gone"))?token=hidden
                \(server.url("/secret"))
                \(server.url("/wrong"))
                  checksum=md5=00000000000000000000000000000000
                """
            let outcome = try await FerryProcess.run(
                ["get", "--json", "-x", "1", "--limit-rate", "4M", "-i", "-"], in: place, input: list)
            #expect(outcome.code == 7, "\(outcome.error)")
            #expect(!outcome.text.contains("hidden"))
            let documented = try Self.documented()
            let every = try #require(documented["every"])
            let lines = try objects(outcome.text)
            for line in lines {
                let event = try #require(line["kind"] as? String)
                let fields = try #require(documented[event], "\(event) is not documented")
                let members = line.flatMap { name, value in
                    (value as? [String: Any])?.keys.map { "\(name).\($0)" } ?? [name]
                }
                #expect(Set(members).isSubset(of: every + fields), "\(event)")
                #expect(line["v"] as? Int == 1 && line["date"] != nil)
            }
            let events = Set(lines.compactMap { $0["kind"] as? String })
            #expect(
                events.isSuperset(of: ["added", "started", "progress", "retrying", "completed", "failed"]), "\(events)")
            let codes = lines.filter { $0["kind"] as? String == "failed" }.compactMap { $0["exitCode"] as? Int }
            #expect(codes.sorted() == [4, 5, 7])
            // Each file ends once, without an event afterwards.
            for id in Set(lines.compactMap { $0["id"] as? String }) {
                let own = lines.filter { $0["id"] as? String == id }.compactMap { $0["kind"] as? String }
                #expect(own.count { ["completed", "failed", "cancelled"].contains($0) } == 1, "\(own)")
                #expect(["completed", "failed", "cancelled"].contains(own.last ?? ""), "\(own)")
            }
        }
    }

    @Test(
        "ferry --json: a usage error is one line of JSON too",
        arguments: [
            ["get", "--bogus"], ["get", "-o", "-", "http://127.0.0.1:1/a"], ["plan", "ftp://h/f"], ["nonsense"],
            ["list", "--bogus"],
        ])
    func usage(words: [String]) async throws {
        let outcome = try await FerryProcess.run(words + ["--json"], in: Workplace())
        #expect(outcome.code == 2)
        let lines = try objects(outcome.text)
        #expect(lines.count == 1 && lines.first?["v"] as? Int == 1 && lines.first?["exitCode"] as? Int == 2)
        #expect((lines.first?["error"] as? [String: Any])?["code"] as? String == "invalidRequest", "\(outcome.text)")
        #expect(outcome.text.hasPrefix(#"{"date":"#) && outcome.error.hasSuffix(" --help)\n"))
    }

    @Test("ferry --json: a usage error has its own sentence in every language")
    func usageInEveryLanguage() async throws {
        let outcome = try await FerryProcess.run(["get", "--bogus", "--json"], in: Workplace())
        let error = try #require(try objects(outcome.text).first?["error"] as? [String: Any])
        #expect(error["message"] as? String == "--bogus: unknown option")
        #expect((error["messages"] as? [String: String])?["zh"] == "用法有误：--bogus：未知的选项")
    }

    @Test("ferry get: after a refused connection nothing is said of resuming, as nothing was received")
    func nothingToResume() async throws {
        let outcome = try await FerryProcess.run(["get", "--retries", "0", "http://127.0.0.1:1/x"], in: Workplace())
        #expect(outcome.code == 3)
        let end = "gave up after 1 attempt: 127.0.0.1:1: connection refused\n"
        #expect(outcome.error.hasSuffix(end), "\(outcome.error)")
    }

    @Test("ferry get --json: resumed has offset and reason, and restarted has the reason")
    func resumed() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            func stop() async throws {
                server.script("/f.bin", [.cut(after: 2_000_000)], then: .status(403))
                _ = try await FerryProcess.run(["get", "-q", "-x", "1", server.url("/f.bin")], in: place)
                server.always("/f.bin", .honest)
            }
            try await stop()
            let again = try await FerryProcess.run(["get", "--json", server.url("/f.bin")], in: place)
            let resumed = try #require(try objects(again.text).first { $0["kind"] as? String == "resumed" })
            let offset = try #require(resumed["offset"] as? Int)
            #expect(offset > 0 && offset <= 2_000_000)
            #expect((resumed["reason"] as? String)?.isEmpty == false)
            let completed = try #require(try objects(again.text).last?["file"] as? [String: Any])
            #expect(completed["receivedBytes"] as? Int == 3_000_000 - offset)
            #expect(completed["proof"] as? String == "strong")
            try FileManager.default.removeItem(atPath: place.path("f.bin"))
            try await stop()
            server.update("/f.bin") {
                $0.seed = 62
                $0.etag = "\"other\""
                $0.lastModified = Date(timeIntervalSince1970: 1_720_000_000)
            }
            let changed = try await FerryProcess.run(["get", "--json", server.url("/f.bin")], in: place)
            #expect(changed.code == 0, "\(changed.error)")
            let restarted = try #require(try objects(changed.text).first { $0["kind"] as? String == "restarted" })
            #expect((restarted["reason"] as? String)?.contains("other") == true, "\(restarted)")
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("ferry get --limit-rate: the limit holds for all files of the process together")
    func limit() async throws {
        try await OriginServer.with { server in
            let names = ["a", "b", "c"]
            for name in names { server.serve("/\(name)", Resource(size: 1_200_000, seed: 63)) }
            let place = try Workplace()
            let start = ContinuousClock.now
            let outcome = try await FerryProcess.run(
                ["get", "-q", "--limit-rate", "1M"] + names.map { server.url("/\($0)") }, in: place)
            let time = ContinuousClock.now - start
            #expect(outcome.code == 0, "\(outcome.error)")
            // A tenth of a second's worth may come at once, and a piece of each connection before it is counted.
            #expect(time > .seconds(3.3), "\(time)")
        }
    }

    @Test("ferry get: secrets from a file or a URL are in no process list, output or journal")
    func secrets() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .hold(after: 1_500_000, gate))
            let place = try Workplace()
            try place.write("X-Key: filesecret\n", to: "fields")
            let url = server.url("/f.bin").replacing("http://", with: "http://u:urlsecret@") + "?sig=querysecret"
            let process = try FerryProcess(
                ["get", "--json", "-v", "-x", "1", "--header", "@fields", "--proxy", "none", url], in: place)
            await gate.arrived()
            let shown = try String(
                decoding: Data(contentsOf: URL(filePath: "/proc/\(process.id)/cmdline")), as: UTF8.self)
            process.signal(SIGINT)
            let outcome = try await process.outcome()
            gate.open()
            let journal = place.names.filter { $0.hasSuffix(".ferry") }
            let text = try journal.map { String(decoding: try place.data($0), as: UTF8.self) }.joined()
            for secret in ["urlsecret", "filesecret"] {
                #expect(!(shown + outcome.text + outcome.error + text).contains(secret), "\(secret)")
            }
            #expect(!(outcome.text + outcome.error).contains("querysecret"))
        }
    }
}
