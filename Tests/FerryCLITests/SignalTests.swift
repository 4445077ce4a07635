import FerryTesting
import Foundation
import Testing

@Suite("The binary: signals", .timeLimit(.minutes(3))) struct SignalTests {
    private static let resource = Resource(size: 4_000_000, seed: 11)
    private static let endings: [(Int32, Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 143)]

    /// Stops a download with these signals when the bar shows `text`; the body is held after so many bytes.
    private static func stopped(
        _ server: OriginServer, _ place: Workplace, paths: [String] = ["/f.bin"], after bytes: Int64, at text: String,
        with signals: [Int32]
    ) async throws -> FerryProcess.Outcome {
        let gate = Gate()
        for path in paths {
            server.serve(path, resource)
            server.always(path, .hold(after: bytes, gate))
        }
        // The bar tells what has arrived; what the server has sent may still be on its way.
        let process = try FerryProcess(
            ["get", "-x", "1"] + paths.map { server.url($0) }, in: place, error: .terminal(columns: 120, lines: 24))
        await process.waitForTerminal(text)
        for signal in signals { process.signal(signal) }
        let outcome = try await process.outcome()
        gate.open()
        for path in paths { server.always(path, .honest) }
        return outcome
    }

    private static func bytes() -> Data { Data(resource.bytes(0..<resource.size)) }

    @Test(
        "B14: a signal writes a checkpoint and leaves with its code; run again, it goes on",
        arguments: endings)
    func stops(signal: Int32, code: Int32) async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await Self.stopped(server, place, after: 3_000_000, at: "75.0%", with: [signal])
            #expect(outcome.code == code, "\(outcome.terminal)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.terminal.contains("run the same command again to go on"))
            #expect(place.names == ["f.bin.part", "f.bin.part.ferry"])
            let before = server.bodyBytes("/f.bin")
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.error.contains("going on at 3.0 MB / 4.0 MB"))
            #expect(server.bodyBytes("/f.bin") - before == 1_000_000)
            #expect(try place.data("f.bin") == Self.bytes())
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("stopped before the first byte, the same command takes the same name again")
    func stopsAtZero() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await Self.stopped(server, place, after: 0, at: "0 B / 4.0 MB", with: [SIGINT])
            #expect(outcome.code == 130)
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            // A journal that claimed nothing was once not taken for ours: its name was avoided, its part stayed for ever.
            #expect(again.lines == [place.path("f.bin")])
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("B14: a second signal leaves at once with its code")
    func second() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await Self.stopped(server, place, after: 3_000_000, at: "75.0%", with: [SIGTERM, SIGINT])
            #expect(outcome.code == 130 || outcome.code == 143)
        }
    }

    @Test("ferry get DIR goes on with every part file in it")
    func directory() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            _ = try await Self.stopped(
                server, place, paths: ["/a", "/b"], after: 3_000_000, at: "6.0 MB / 8.0 MB", with: [SIGINT])
            let outcome = try await FerryProcess.run(["get", "."], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines.sorted() == [place.path("a"), place.path("b")])
            #expect(place.names == ["a", "b"])
        }
    }
}
