import FerryTesting
import Foundation
import Testing

@Suite("The binary: output", .serialized, .timeLimit(.minutes(30))) struct OutputTests {
    private static let resource = Resource(size: 3_000_000, seed: 3)

    private static func bytes(_ resource: Resource) -> Data { Data(resource.bytes(0..<resource.size)) }

    @Test("ferry get: standard output is the path of the file, which has the server's bytes and time")
    func path() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [place.path("f.bin")])
            #expect(try place.data("f.bin") == Self.bytes(Self.resource))
            #expect(place.names == ["f.bin"])
            let date = try FileManager.default.attributesOfItem(atPath: place.path("f.bin"))[.modificationDate] as? Date
            #expect(date == Resource.defaultDate)
            #expect(outcome.error.contains("f.bin: done, 3.0 MB"))
        }
    }

    @Test("ferry get --no-mtime: the file has the present time, and a second run finds it complete")
    func ownTime() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            for _ in 0..<2 {
                let outcome = try await FerryProcess.run(["get", "--no-mtime", server.url("/f.bin")], in: place)
                #expect(outcome.lines == [place.path("f.bin")], "\(outcome.error)")
            }
            let date = try FileManager.default.attributesOfItem(atPath: place.path("f.bin"))[.modificationDate] as? Date
            #expect(try #require(date) > Resource.defaultDate.addingTimeInterval(86_400))
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("ferry get -v: what limits the download is shown, without progress output too")
    func limited() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Resource(size: 8_000_000))
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-v", "--no-progress", "--limit-rate", "1M", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.contains("f.bin: speed limited: your limit of 1.0 MB/s\n"), "\(outcome.error)")
        }
    }

    @Test("ferry get -v: requests, answers and connections are shown, once what is added, and no secret")
    func traced() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .redirectChain(1))
            let place = try Workplace()
            let url = server.url("/f.bin") + "?token=hidden"
            let outcome = try await FerryProcess.run(["get", "-v", "-H", "X-Key: hidden", url], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            for part in [
                "?…: added\n", ": request: GET http://", "X-Key: …", ": 302 from ", ": 200 from ", ": redirected from ",
            ] {
                #expect(outcome.error.contains(part), "\(part): \(outcome.error)")
            }
            #expect(!outcome.error.contains("hidden"))
            let again = try await FerryProcess.run(["get", url, "-H", "X-Key: hidden"], in: place)
            #expect(again.error.contains("already complete, 3.0 MB, proof: "), "\(again.error)")
        }
    }

    @Test("ferry get: each break is one line with its reason")
    func breaks() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.stall(after: 1_000_000), .cut(after: 1_000_000)])
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-x", "1", "--stall-timeout", "1", "--no-progress", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0)
            let lines = outcome.error.split(separator: "\n")
            #expect(lines.count == 3, "\(outcome.error)")
            #expect(lines.first?.hasSuffix(": the connection stalled") == true, "\(outcome.error)")
        }
    }

    @Test("ferry get --json: each line is an object, from added over started and progress to completed")
    func json() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let arguments = ["get", "--json", "--limit-rate", "2M", server.url("/f.bin") + "?secret=1"]
            let outcome = try await FerryProcess.run(arguments, in: place)
            #expect(outcome.code == 0)
            #expect(outcome.error.isEmpty)
            #expect(!outcome.text.contains("secret"))
            let lines = try objects(outcome.text)
            let names = lines.compactMap { $0["kind"] as? String }
            #expect(names.first == "added")
            #expect(names.contains("started"))
            #expect(names.contains("progress"))
            #expect(names.last == "completed")
            #expect(Set(lines.compactMap { $0["id"] as? String }).count == 1)
            #expect(lines.allSatisfy { $0["v"] as? Int == 1 && $0["date"] is String })
            #expect((lines.last?["file"] as? [String: Any])?["totalBytes"] as? Int == 3_000_000)
        }
    }

    @Test("ferry get -i: malformed lines are reported with their numbers, the rest is fetched, exit code 2")
    func list() async throws {
        try await OriginServer.with { server in
            for name in ["a", "b"] { server.serve("/\(name)", Resource(size: 1000, seed: 4)) }
            let place = try Workplace()
            let list = "\(server.url("/a"))\n  out=renamed\n  dir=sub\nnonsense\n# comment\n\(server.url("/b"))\n"
            let outcome = try await FerryProcess.run(["get", "-i", "-"], in: place, input: list)
            #expect(outcome.code == 2)
            #expect(outcome.lines.sorted() == [place.path("b"), place.path("sub/renamed")])
            #expect(outcome.error.contains("standard input: line 4: "))
        }
    }

    @Test(
        "ferry get: a closed standard output or standard error does not stop the download (B15)",
        arguments: [("-v", true), ("-v", false), ("--json", true)])
    func closed(option: String, isOutput: Bool) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", option, server.url("/f.bin")], in: place, output: isOutput ? .closedPipe : .captured,
                error: isOutput ? .captured : .closedPipe)
            #expect(outcome.code == 0)
            #expect(try place.data("f.bin") == Self.bytes(Self.resource))
        }
    }

    @Test("ferry get: started without standard streams it completes the file with the right bytes (B15)")
    func missingStreams() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-v", server.url("/f.bin")], in: place, shell: "exec \"$@\" 0<&- 1>&- 2>&-")
            #expect(outcome.code == 0)
            #expect(try place.data("f.bin") == Self.bytes(Self.resource))
        }
    }

    @Test("ferry get: URLs that differ in their query alone are told apart by their place")
    func alike() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            try place.write("\n" + server.url("/gone?c") + "\n", to: "urls.txt")
            let outcome = try await FerryProcess.run(
                ["get", server.url("/gone?a"), server.url("/gone?b"), "-i", "urls.txt"], in: place)
            #expect(outcome.code == 4)
            for mark in ["URL 1", "URL 2", "line 2 of urls.txt"] {
                #expect(outcome.error.contains("/gone?… (\(mark)): the server answered 404"), "\(outcome.error)")
            }
            let alone = try await FerryProcess.run(["get", server.url("/gone?a")], in: place)
            #expect(alone.error.contains("/gone?…: the server answered 404"), "\(alone.error)")
        }
    }

    @Test("ferry plan: it prints the plan as text and as JSON, and writes nothing")
    func plan() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let text = try await FerryProcess.run(["plan", server.url("/f.bin"), "-d", "not/there"], in: place)
            #expect(text.code == 0, "\(text.error)")
            #expect(text.text.contains("f.bin"))
            #expect(text.text.contains("3.0 MB (3000000 bytes)"))
            let json = try await FerryProcess.run(["plan", "--json", server.url("/f.bin")], in: place)
            let plan = try #require(try objects(json.text).first)
            #expect(plan["totalBytes"] as? Int == 3_000_000)
            #expect(plan["acceptsRanges"] as? Bool == true)
            #expect(plan["validatorStrength"] as? String == "strong")
            #expect(plan["resumability"] as? String == "proven")
            #expect(place.names.isEmpty)
        }
    }

    @Test("ferry get: the process list shows no password, header value or user info")
    func arguments() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .hold(gate))
            let place = try Workplace()
            let url = server.url("/f.bin").replacing("http://", with: "http://urluser:urlpass@")
            let process = try FerryProcess(
                ["get", url, "--header", "X-Key: headersecret", "--user=me:optionsecret"], in: place)
            await gate.arrived()
            let shown = try String(
                decoding: Data(contentsOf: URL(filePath: "/proc/\(process.id)/cmdline")), as: UTF8.self)
            gate.open()
            #expect(shown.contains("127.0.0.1"))
            for secret in ["urluser", "urlpass", "headersecret", "optionsecret"] { #expect(!shown.contains(secret)) }
            #expect(try await process.outcome().code == 0)
        }
    }
}
