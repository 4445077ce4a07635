import FerryTesting
import Foundation
import Testing

@Suite("The binary: names, lists and existing files", .serialized, .timeLimit(.minutes(30)))
struct DestinationTests {
    private static let resource = Resource(size: 2_000_000, seed: 41)
    private static func bytes(_ resource: Resource = resource) -> Data { Data(resource.bytes(0..<resource.size)) }

    @Test("ferry get: while one process has a name, another request takes the next one (B8)")
    func nextName() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/a/f.bin", Self.resource)
            server.always("/a/f.bin", .hold(after: 1_500_000, gate))
            let other = Resource(size: 1_200_000, seed: 42)
            server.serve("/b/f.bin", other)
            let place = try Workplace()
            let first = try FerryProcess(
                ["get", "-v", "-x", "1", server.url("/a/f.bin")], in: place, error: .terminal(columns: 100, lines: 24))
            await gate.arrived()
            // The process has the name once its journal exists.
            try await eventually { place.names.contains("f.bin.part.ferry") }
            let second = try await FerryProcess.run(["get", server.url("/b/f.bin")], in: place)
            gate.open()
            #expect(second.code == 0, "\(second.error)")
            #expect(second.lines == [place.path("f (1).bin")])
            #expect(try await first.outcome().code == 0)
            #expect(try place.data("f.bin") == Self.bytes())
            #expect(try place.data("f (1).bin") == Self.bytes(other))
            #expect(place.names == ["f (1).bin", "f.bin"])
        }
    }

    @Test(
        "ferry get: a second process with the same URL leaves with exit code 9 and one line (B8)",
        arguments: [[], ["-o", "f.bin"]])
    func sameURL(name: [String]) async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .hold(after: 1_500_000, gate))
            let place = try Workplace()
            let words = ["get", "-x", "1", server.url("/f.bin")] + name
            let first = try FerryProcess(words + ["-v"], in: place, error: .terminal(columns: 100, lines: 24))
            await gate.arrived()
            // The process has the name once its journal exists.
            try await eventually { place.names.contains("f.bin.part.ferry") }
            let second = try await FerryProcess.run(words, in: place)
            gate.open()
            #expect(second.code == 9, "\(second.error)")
            #expect(second.error.split(separator: "\n").count == 1, "\(second.error)")
            #expect(try await first.outcome().code == 0)
            #expect(try place.data("f.bin") == Self.bytes())
            #expect(place.names == ["f.bin"])
        }
    }

    @Test(
        "ferry get --on-conflict: each rule decides about an existing file, with and without -o",
        arguments: [("rename", 0), ("overwrite", 0), ("fail", 9), ("skip", 0)], [false, true])
    func conflict(_ rule: (name: String, code: Int32), isNamed: Bool) async throws {
        try await OriginServer.with { server in
            for size in [1000, 2_000_000] as [Int64] {
                let resource = Resource(size: size, seed: 43)
                server.serve("/f.bin", resource)
                let place = try Workplace()
                try place.write("mine", to: "f.bin")
                let name = isNamed ? ["-o", "f.bin"] : []
                let outcome = try await FerryProcess.run(
                    ["get", "--no-progress", "--on-conflict", rule.name, server.url("/f.bin")] + name, in: place)
                #expect(outcome.code == rule.code, "\(outcome.error)")
                let isKept = rule.name != "overwrite"
                #expect(try place.data("f.bin") == (isKept ? Data("mine".utf8) : Self.bytes(resource)))
                #expect(place.names == (rule.name == "rename" ? ["f (1).bin", "f.bin"] : ["f.bin"]))
                switch rule.name {
                case "rename": #expect(outcome.lines == [place.path("f (1).bin")])
                case "fail":
                    #expect(outcome.lines.isEmpty)
                    #expect(outcome.error.contains("--on-conflict"), "\(outcome.error)")
                case "skip":
                    // An earlier version reported any such file as complete.
                    #expect(outcome.error.contains("not changed"), "\(outcome.error)")
                    #expect(!outcome.error.contains("complete"))
                default: #expect(outcome.lines == [place.path("f.bin")])
                }
            }
        }
    }

    @Test(
        "ferry get --on-conflict skip: a file that does not have the checksum, or was not compared with it, is no result",
        arguments: ["/f.bin", "/named"])
    func skippedWithChecksum(path: String) async throws {
        try await OriginServer.with { server in
            server.serve(path, Resource(size: 1000, seed: 43))
            server.always(path, .field("Content-Disposition", "attachment; filename=f.bin"))
            let place = try Workplace()
            try place.write("mine", to: "f.bin")
            let outcome = try await FerryProcess.run(
                [
                    "get", "--no-progress", "--on-conflict", "skip", "--checksum",
                    "sha256:" + String(repeating: "0", count: 64), server.url(path),
                ], in: place)
            #expect(outcome.code == 9, "\(outcome.error)")
            #expect(outcome.lines.isEmpty)
            #expect(try place.data("f.bin") == Data("mine".utf8))
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("ferry get: a second run is a conditional request with a 304, and a changed file gets the next name")
    func conditional() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            _ = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.lines == [place.path("f.bin")])
            let request = server.requests.last
            #expect(request?.head["If-None-Match"] == Self.resource.etag)
            #expect(request?.status == 304)
            // Equal in length and date, but another file by its ETag: an earlier version called it complete.
            let other = Resource(size: 2_000_000, seed: 44)
            server.serve("/f.bin", other)
            let changed = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(changed.code == 0, "\(changed.error)")
            #expect(try place.data("f.bin") == Self.bytes())
            #expect(try place.data("f (1).bin") == Self.bytes(other))
        }
    }

    @Test("ferry get --strict: beside a foreign file, a second run recognizes the file of the first under its name")
    func strictCopy() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try Self.bytes(Resource(size: 2_000_000, seed: 44)).write(to: place.url.appending(path: "f.bin"))
            for _ in 0..<2 {
                let outcome = try await FerryProcess.run(["get", "--strict", server.url("/f.bin")], in: place)
                #expect(outcome.code == 0, "\(outcome.error)")
                #expect(outcome.lines == [place.path("f (1).bin")])
            }
            #expect(server.requests.last?.status == 304)
            #expect(place.names == ["f (1).bin", "f.bin"])
            #expect(try place.data("f (1).bin") == Self.bytes())
        }
    }

    @Test("ferry get: an empty part file left by a crash is taken over by a small file (B1)")
    func abandoned() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Resource(size: 1000, seed: 48))
            let place = try Workplace()
            // A kill between the creation of a part file and its first journal leaves it empty, with our mode. An
            // earlier version then used `f (1).bin` for a small file and left this one for ever.
            try place.write("", to: "f.bin.part")
            #expect(chmod(place.path("f.bin.part"), 0o1600) == 0)
            let outcome = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(place.names == ["f.bin"])
        }
    }

    @Test(
        "ferry get: an existing foreign file is complete when length and time match, or samples, or all bytes, else the next name is used"
    )
    func foreign() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try Self.bytes().write(to: place.url.appending(path: "f.bin"))
            try FileManager.default.setAttributes(
                [.modificationDate: Resource.defaultDate], ofItemAtPath: place.path("f.bin"))
            let outcome = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(place.names == ["f.bin"])
            #expect(server.requests.last?.head["If-None-Match"] == nil)
            #expect(server.requests.last?.status == 200)
            try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: place.path("f.bin"))
            let newer = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(newer.lines == [place.path("f.bin")])
            #expect(newer.error.contains("already complete, 2.0 MB, proof: sampled"))
            // The server's file seems to have changed since: it is fetched, and found to be the same.
            let before = Resource.defaultDate.addingTimeInterval(-60)
            try FileManager.default.setAttributes([.modificationDate: before], ofItemAtPath: place.path("f.bin"))
            let older = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(older.lines == [place.path("f.bin")])
            #expect(place.names == ["f.bin"])
            try Data(count: Int(Self.resource.size)).write(to: place.url.appending(path: "f.bin"))
            let other = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(other.lines == [place.path("f (1).bin")])
            #expect(other.error.contains("f.bin is not proven to be the server's file: it is left as it is"))
            #expect(other.error.contains("the name is taken: it becomes f (1).bin"))
        }
    }

    @Test("ferry get --checksum: right and wrong digests, of an existing file and from a list, are judged")
    func checksum() async throws {
        try await OriginServer.with { server in
            let right = Self.resource.sha256
            server.serve("/f.bin", Self.resource)
            server.serve(
                "/SHA256SUMS", Resource(text: "\(right)  f.bin\n\(String(repeating: "1", count: 64)) *g.bin\n"))
            server.serve("/g.bin", Self.resource)
            let place = try Workplace()
            let url = server.url("/f.bin")
            #expect(try await FerryProcess.run(["get", "--checksum", "sha256:\(right)", url], in: place).code == 0)
            let requests = server.requests.count
            let there = try await FerryProcess.run(["get", "--checksum", "sha-256=\(right)", url], in: place)
            #expect(there.code == 0, "\(there.error)")
            #expect(there.error.contains("already complete"))
            #expect(server.requests.count == requests)
            let other = try Workplace()
            let list = ["--checksum", "@" + server.url("/SHA256SUMS")]
            let both = try await FerryProcess.run(["get", url, server.url("/g.bin")] + list, in: other)
            #expect(both.code == 7, "\(both.error)")
            #expect(both.lines == [other.path("f.bin")])
            #expect(other.names == ["f.bin", "g.bin.part", "g.bin.part.ferry"])
        }
    }

    @Test("ferry get --mirror: the mirror completes the file when the first server fails midway")
    func mirror() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 1_200_000)], then: .status(404))
            try await OriginServer.with { second in
                second.serve("/m.bin", Self.resource)
                let place = try Workplace()
                let outcome = try await FerryProcess.run(
                    [
                        "get", "--checksum", "sha256:\(Self.resource.sha256)", "--mirror", second.url("/m.bin"),
                        server.url("/f.bin"),
                    ], in: place)
                #expect(outcome.code == 0, "\(outcome.error)")
                #expect(outcome.lines == [place.path("f.bin")])
                #expect(try place.data("f.bin") == Self.bytes())
            }
        }
    }

    @Test("ferry get -i: several lists with mirrors, options and comments are fetched, --print0 ends paths with NUL")
    func lists() async throws {
        try await OriginServer.with { server in
            for name in ["a", "b", "c"] { server.serve("/\(name)", Resource(size: 1000, seed: 45)) }
            let place = try Workplace()
            try place.write("# more\n\n\(server.url("/gone"))\t\(server.url("/c"))\n  out=c.bin\n", to: "more.txt")
            let input = "\(server.url("/a"))\r\n\(server.url("/b"))\n  out=sub/b.bin\n"
            let outcome = try await FerryProcess.run(
                ["get", "--print0", "-q", "-i", "-", "-i", "more.txt"], in: place, input: input)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.isEmpty)
            let paths = outcome.text.split(separator: "\0").map(String.init).sorted()
            #expect(paths == [place.path("a"), place.path("c.bin"), place.path("sub/b.bin")])
        }
    }

    @Test("ferry get: a link that dies midway is exit code 5, and the printed command completes the file")
    func freshLink() async throws {
        try await OriginServer.with { server in
            // Large compared with samples and with the bytes in flight of a cut connection.
            let resource = Resource(size: 24_000_000, seed: 9)
            server.serve("/f.bin", resource)
            server.script("/f.bin", [.cut(after: 18_000_000)], then: .status(403))
            server.serve("/new", resource)
            let place = try Workplace()
            let url = server.url("/f.bin") + "?token=old"
            let outcome = try await FerryProcess.run(["get", "-x", "1", url], in: place)
            #expect(outcome.code == 5, "\(outcome.error)")
            #expect(!outcome.error.contains("token"))
            #expect(outcome.error.contains("ferry get \(place.path("f.bin.part")) NEWURL"))
            // A preview fails in the same way.
            for words in [[url], ["f.bin.part"]] {
                let plan = try await FerryProcess.run(["plan"] + words, in: place)
                #expect(plan.code == 5, "\(plan.error)")
                #expect(plan.error.contains("f.bin.part NEWURL") == (words == ["f.bin.part"]), "\(plan.error)")
            }
            let again = try await FerryProcess.run(["get", "f.bin.part", server.url("/new?token=new")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.lines == [place.path("f.bin")])
            #expect(server.bodyBytes("/new") < 14_000_000)
            #expect(try place.data("f.bin") == Self.bytes(resource))
        }
    }

    @Test("ferry get: of several failures the exit code first in the documented order counts")
    func precedence() async throws {
        let closed = try ClosedPort()
        let nobody = closed.url("/x")
        defer { withExtendedLifetime(closed) {} }
        try await OriginServer.with { server in
            for name in ["ok", "taken", "wrong", "secret"] { server.serve("/\(name)", Resource(size: 1000, seed: 47)) }
            server.always("/secret", .basicAuth("a", "b"))
            // From the least to the gravest: each list adds one failure, whose code is expected.
            let lines: [(Int32, String)] = [
                (0, server.url("/ok")), (2, "nonsense"), (9, server.url("/taken")), (3, nobody),
                (4, server.url("/gone")), (5, server.url("/secret")),
                (7, server.url("/wrong") + "\n  checksum=md5=" + String(repeating: "0", count: 32)),
            ]
            for count in 1...lines.count {
                let place = try Workplace()
                try place.write("mine", to: "taken")
                let outcome = try await FerryProcess.run(
                    ["get", "-i", "-", "--retries", "0", "--on-conflict", "fail"], in: place,
                    input: lines.prefix(count).map(\.1).joined(separator: "\n"))
                #expect(outcome.code == lines[count - 1].0, "\(outcome.error)")
                #expect(outcome.lines == [place.path("ok")])
            }
        }
    }
}
