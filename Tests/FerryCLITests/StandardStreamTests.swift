import FerryTesting
import Foundation
import Testing

@Suite("The binary: slow and closed readers", .serialized, .timeLimit(.minutes(30)))
struct StandardStreamTests {
    private static let resource = Resource(size: 3_000_000, seed: 13)
    private static func bytes(_ range: Range<Int64>) -> Data { Data(resource.bytes(range)) }

    @Test("ferry get --json: a full pipe holds back the output but not the download, and no line is lost (B15)")
    func fullPipe() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let pipe = try FullPipe()
            let process = try FerryProcess(
                ["get", "--json", "-v", server.url("/f.bin")], in: place, output: .handle(pipe.writing),
                error: .terminal(columns: 100, lines: 24))
            // The published file carries the server's time: the last step before the output.
            await process.waitForTerminal("the server answered")
            try await server.waitFor { $0.requests.first?.isFinished == true }
            let text = await pipe.rest()
            let outcome = try await process.outcome()
            #expect(outcome.code == 0, "\(outcome.terminal)")
            #expect(try objects(text).last?["kind"] as? String == "completed")
            #expect(try place.data("f.bin") == Self.bytes(0..<Self.resource.size))
        }
    }

    @Test("ferry get: with a full pipe the bars continue, and a signal writes the checkpoint (B14, B15)")
    func signalWithFullPipe() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/small", Resource(size: 1000, seed: 15))
            server.serve("/f.bin", Resource(size: 4_000_000, seed: 13))
            server.always("/f.bin", .hold(after: 3_000_000, gate))
            let place = try Workplace()
            let pipe = try FullPipe()
            // The path of the first file has no room in the pipe. Its write once blocked the threads that draw and that
            // write the checkpoint.
            let process = try FerryProcess(
                ["get", "-j", "1", "-x", "1", server.url("/small"), server.url("/f.bin")], in: place,
                output: .handle(pipe.writing), error: .terminal(columns: 120, lines: 24))
            await process.waitForTerminal("75.0%")
            process.signal(SIGTERM)
            let outcome = try await process.outcome()
            gate.open()
            pipe.close()
            #expect(outcome.code == 143)
            #expect(outcome.terminal.contains("run the same command again to resume"))
            #expect(place.names == ["f.bin.part", "f.bin.part.ferry", "small"])
            try FileManager.default.removeItem(atPath: place.path("small"))
            let resource = Resource(size: 4_000_000, seed: 13)
            #expect(HeldState("f.bin", of: resource, in: place, context: "stopped").bytes == 3_000_000)
        }
    }

    @Test(
        "ferry get -o: descriptors that lead to files get the bytes, and no other file is made",
        arguments: [
            ("/dev/fd/3", #"exec "$@" 3>out"#), ("/proc/self/fd/3", #"exec "$@" 3>out"#),
            ("/dev/stdout", #"exec "$@" >out"#), ("/dev/stderr", #"exec "$@" 2>out"#),
        ])
    func descriptors(output: String, shell: String) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-q", server.url("/f.bin"), "-o", output], in: place, shell: shell)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try place.data("out") == Self.bytes(0..<Self.resource.size))
            #expect(place.names == ["out"])
        }
    }

    @Test("ferry get -o: a descriptor that is not open is a usage error")
    func closedDescriptor() async throws {
        let outcome = try await FerryProcess.run(["get", "http://127.0.0.1:9/f", "-o", "/dev/fd/77"], in: Workplace())
        #expect(outcome.code == 2 && outcome.error.contains("not open"), "\(outcome.error)")
    }

    @Test("ferry get -o: of an output without space, nothing is said to be kept")
    func fullOutput() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let outcome = try await FerryProcess.run(
                ["get", "-q", server.url("/f.bin"), "-o", "/dev/full"], in: Workplace())
            #expect(outcome.code == 8 && outcome.error.contains("No space left on device"), "\(outcome.error)")
            #expect(!outcome.error.contains("kept"), "\(outcome.error)")
        }
    }

    @Test("ferry plan: output that cannot be written is a failure of the disk; a reader that has gone is none")
    func lostOutput() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let (place, words) = (try Workplace(), ["plan", server.url("/f.bin")])
            let full = try await FerryProcess.run(words, in: place, shell: #"exec "$@" >/dev/full"#)
            #expect(full.code == 8 && full.error.contains("No space left on device"), "\(full.error)")
            let closed = try await FerryProcess.run(words, in: place, shell: #"{ "$@"; echo $? >&2; } | true"#)
            #expect(closed.error == "0\n", "\(closed.error)")
        }
    }

    @Test("ferry get: a path that cannot be written is a failure of the disk, and the file is there")
    func lostPath() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let words = ["get", "-q", server.url("/f.bin")]
            let full = try await FerryProcess.run(words, in: place, shell: #"exec "$@" >/dev/full"#)
            #expect(full.code == 8 && full.error.contains("No space left on device"), "\(full.error)")
            #expect(try place.data("f.bin") == Self.bytes(0..<Self.resource.size))
            let silent = try await FerryProcess.run(words + ["--no-paths"], in: place, shell: #"exec "$@" >/dev/full"#)
            #expect(silent.code == 0 && silent.error == "", "\(silent.error)")
        }
    }

    @Test("ferry get, plan: a list without a URL is said", arguments: ["get", "plan"], [nil, "--json"])
    func emptyList(command: String, option: String?) async throws {
        let words = [command, option, "-i", "-"].compactMap(\.self)
        let outcome = try await FerryProcess.run(words, in: Workplace(), input: "# nothing\n\n")
        #expect(outcome.code == 0 && outcome.error == "ferry: there is no URL in the list\n", "\(outcome.error)")
    }

    @Test("ferry get -o -: a slow reader gets every byte once and in order, through a broken connection")
    func slowReader() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 1_500_000, .reset)])
            let place = try Workplace()
            let pipe = try FullPipe()
            let process = try FerryProcess(
                ["get", "-q", "-o", "-", server.url("/f.bin")], in: place, output: .handle(pipe.writing))
            // The reader begins when the origin is blocked, or has closed.
            try await server.waitFor { $0.requestCount > 0 }
            let text = await pipe.data()
            #expect(try await process.outcome().code == 0)
            #expect(text == Self.bytes(0..<Self.resource.size))
            #expect(server.requests.count >= 2)
            #expect(server.requests.last?.ifRange == Self.resource.etag)
        }
    }

    @Test("ferry get -o -: when the file changes midway it ends with exit code 6, and no new bytes are mixed in")
    func changedStream() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let gate = Gate()
            server.script("/f.bin", [Behaviour.hold(after: 1_500_000, gate).and(.cut(after: 1_500_000, .reset))])
            let place = try Workplace()
            let process = try FerryProcess(["get", "-q", "-o", "-", server.url("/f.bin")], in: place)
            await gate.arrived()
            server.update("/f.bin") {
                $0.seed = 14
                $0.etag = "\"other\""
                $0.lastModified = Date(timeIntervalSince1970: 1_720_000_000)
            }
            gate.open()
            let outcome = try await process.outcome()
            #expect(outcome.code == 6, "\(outcome.error)")
            #expect(outcome.output == Self.bytes(0..<Int64(outcome.output.count)))
            #expect(outcome.output.count <= 1_500_000)
        }
    }

    @Test("ferry get -o -: a closed reader is exit code 8 with one line")
    func readerLeaves() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-o", "-", "--no-progress", server.url("/f.bin")], in: place, output: .closedPipe)
            #expect(outcome.code == 8)
            #expect(outcome.error.split(separator: "\n").count == 1)
            #expect(outcome.error.contains("Broken pipe"))
            #expect(place.names.isEmpty)
        }
    }
}
