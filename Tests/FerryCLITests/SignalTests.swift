import FerryTesting
import Foundation
import Testing

@Suite("The binary: signals", .serialized, .timeLimit(.minutes(30))) struct SignalTests {
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
        // The bar shows received bytes; bytes that the server has sent may still be in flight.
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
        "ferry get: a signal writes a checkpoint and leaves with its code; the next run resumes (B14)",
        arguments: endings)
    func stops(signal: Int32, code: Int32) async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await Self.stopped(server, place, after: 3_000_000, at: "75.0%", with: [signal])
            #expect(outcome.code == code, "\(outcome.terminal)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.terminal.contains("run the same command again to resume"))
            #expect(place.names == ["f.bin.part", "f.bin.part.ferry"])
            let before = server.bodyBytes("/f.bin")
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.error.contains("resuming at 3.0 MB / 4.0 MB"))
            #expect(server.bodyBytes("/f.bin") - before == 1_000_000)
            #expect(try place.data("f.bin") == Self.bytes())
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("ferry get: stopped before the first byte, the next run takes the same name")
    func stopsAtZero() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await Self.stopped(server, place, after: 0, at: "0 B / 4.0 MB", with: [SIGINT])
            #expect(outcome.code == 130)
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            // An earlier version did not recognise a journal without claims as its own: it avoided the name and left
            // the part file for ever.
            #expect(again.lines == [place.path("f.bin")])
            #expect(place.names == ["f.bin"])
        }
    }

    /// Runs `ferry get` until three quarters have arrived, on a disk whose syncs do not return from then on, and sends
    /// SIGTERM.
    private static func stoppedOnHeldDisk(
        _ server: OriginServer, _ place: Workplace, _ body: (FerryProcess) async throws -> Void
    ) async throws -> FerryProcess.Outcome {
        let gate = Gate()
        server.serve("/f.bin", resource)
        server.always("/f.bin", .hold(after: 3_000_000, gate))
        let process = try FerryProcess(
            ["get", "-x", "1", server.url("/f.bin")], in: place, error: .terminal(columns: 120, lines: 24))
        await process.waitForTerminal("75.0%")
        let tracer = try await Strace.holdSyncs(of: process.id)
        process.signal(SIGTERM)
        try await body(process)
        try await eventually { Strace.hasLeft(process.id) }
        tracer.signal(SIGKILL)
        let outcome = try await process.outcome()
        gate.open()
        server.always("/f.bin", .honest)
        return outcome
    }

    @Test(
        "ferry get: a disk that does not answer does not delay the end after a signal (B14)",
        .enabled(if: Strace.canInject, "no strace here"))
    func heldDisk() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await Self.stoppedOnHeldDisk(server, place) { _ in }
            #expect(outcome.code == 143, "\(outcome.terminal)")
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(try place.data("f.bin") == Self.bytes())
        }
    }

    /// The first signal's checkpoint is held, so that only the second signal can end the process with its own code.
    @Test(
        "ferry get: a second signal ends it at once with its own code (B14)",
        .enabled(if: Strace.canInject, "no strace here"))
    func second() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            var wasLate = false
            let outcome = try await Self.stoppedOnHeldDisk(server, place) { process in
                let begun = ContinuousClock.now
                try await eventually { Strace.hasLeft(process.id) || Strace.isSyncing(process.id) }
                process.signal(SIGINT)
                // After 1.8 s the process exits without a second signal.
                wasLate = ContinuousClock.now - begun > .seconds(1.5)
            }
            #expect(outcome.code == 130 || (wasLate && outcome.code == 143), "\(outcome.terminal)")
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(try place.data("f.bin") == Self.bytes())
        }
    }

    @Test("ferry get: SIGTSTP clears the bars before it stops, and the next frame is drawn below")
    func suspended() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .hold(after: 3_000_000, gate))
            let place = try Workplace()
            let process = try FerryProcess(
                ["get", "-x", "1", server.url("/f.bin")], in: place, environment: ["NO_COLOR": "1"],
                error: .terminal(columns: 100, lines: 24))
            await process.waitForTerminal("75.0%")
            process.signal(SIGTSTP)
            // Only the removal of the bars ends with these bytes.
            await process.waitForTerminal("\r\u{1B}[J")
            gate.open()
            // The process may stop after a SIGCONT was sent; so it is sent until the end.
            while !process.hasEnded {
                process.signal(SIGCONT)
                await Task.yield()
            }
            let outcome = try await process.outcome()
            #expect(outcome.code == 0, "\(outcome.terminal)")
            // A frame drawn between the continuation and its notice once overwrote the shell's output.
            let after = outcome.terminal.split(separator: "\r\u{1B}[J", maxSplits: 1).last ?? ""
            #expect(!after.prefix { $0 != "%" }.contains("\u{1B}["), "\(after)")
            #expect(try place.data("f.bin") == Self.bytes())
        }
    }

    @Test("ferry get: a signal ends a back-off of an hour (B14)", arguments: endings)
    func backOff(signal: Int32, code: Int32) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 3_000_000)], then: .status(503, retryAfter: "3600"))
            let place = try Workplace()
            let process = try FerryProcess(
                ["get", "-x", "1", "--no-progress", server.url("/f.bin")], in: place,
                error: .terminal(columns: 120, lines: 24))
            await process.waitForTerminal("trying again in")
            process.signal(signal)
            let outcome = try await process.outcome()
            #expect(outcome.code == code, "\(outcome.terminal)")
            #expect(place.names == ["f.bin.part", "f.bin.part.ferry"])
            // One buffer of the bytes that arrived with the end of the connection may be lost.
            #expect(HeldState("f.bin", of: Self.resource, in: place, context: "stopped").bytes >= 1_000_000)
        }
    }

    @Test("ferry get: a signal before the first response leaves with its code and no file (B14)")
    func beforeTheAnswer() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let gate = Gate()
            server.always("/f.bin", .hold(gate))
            let place = try Workplace()
            let process = try FerryProcess(["get", "--no-progress", server.url("/f.bin")], in: place)
            await gate.arrived()
            process.signal(SIGINT)
            let outcome = try await process.outcome()
            gate.open()
            #expect(outcome.code == 130, "\(outcome.error)")
            #expect(place.names.isEmpty)
        }
    }

    @Test("ferry get DIR: every part file in the directory is resumed")
    func directory() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let stopped = try await Self.stopped(
                server, place, paths: ["/a", "/b"], after: 3_000_000, at: "6.0 MB / 8.0 MB", with: [SIGINT])
            // An earlier summary reported 0 B in 4 s, where 6 MB had arrived.
            #expect(!stopped.terminal.contains("0 of 2 files, "))
            let outcome = try await FerryProcess.run(["get", "."], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines.sorted() == [place.path("a"), place.path("b")])
            #expect(outcome.error.contains("2 of 2 files"))
            #expect(place.names == ["a", "b"])
        }
    }
}
