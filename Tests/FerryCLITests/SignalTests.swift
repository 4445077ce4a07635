import FerryTesting
import Foundation
import Testing

@Suite("The binary: signals", .timeLimit(.minutes(3))) struct SignalTests {
    private static let resource = Resource(size: 4_000_000, seed: 11)
    private static let endings: [(Int32, Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 143)]

    @Test(
        "B14: a signal writes a checkpoint and leaves with its code; run again, it goes on",
        arguments: endings)
    func stops(signal: Int32, code: Int32) async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .hold(after: 3_000_000, gate))
            let place = try Workplace()
            let process = try FerryProcess(["get", "-x", "1", server.url("/f.bin")], in: place)
            await gate.arrived()
            process.signal(signal)
            let outcome = try await process.outcome()
            gate.open()
            #expect(outcome.code == code, "\(outcome.error)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("run the same command again to go on"))
            #expect(place.names == ["f.bin.part", "f.bin.part.ferry"])
            let before = server.bodyBytes("/f.bin")
            server.always("/f.bin", .honest)
            let again = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.error.contains("going on at"))
            #expect(server.bodyBytes("/f.bin") - before < Self.resource.size)
            #expect(try place.data("f.bin") == Data(Self.resource.bytes(0..<Self.resource.size)))
            #expect(place.names == ["f.bin"])
        }
    }

    @Test("B14: a second signal leaves at once with its code")
    func second() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .hold(after: 3_000_000, gate))
            let place = try Workplace()
            let process = try FerryProcess(["get", "-x", "1", server.url("/f.bin")], in: place)
            await gate.arrived()
            process.signal(SIGTERM)
            process.signal(SIGINT)
            let code = try await process.outcome().code
            gate.open()
            #expect(code == 130 || code == 143)
        }
    }

    @Test("ferry get DIR goes on with every part file in it")
    func directory() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            for name in ["a", "b"] {
                server.serve("/\(name)", Self.resource)
                server.always("/\(name)", .hold(after: 3_000_000, gate))
            }
            let place = try Workplace()
            let process = try FerryProcess(["get", "-x", "1", server.url("/a"), server.url("/b")], in: place)
            await gate.arrived(2)
            process.signal(SIGINT)
            _ = try await process.outcome()
            gate.open()
            for name in ["a", "b"] { server.always("/\(name)", .honest) }
            let outcome = try await FerryProcess.run(["get", "."], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines.sorted() == [place.path("a"), place.path("b")])
            #expect(place.names == ["a", "b"])
        }
    }
}
