import FerryTesting
import Foundation
import Testing

@Suite("The binary: kill -9", .timeLimit(.minutes(5))) struct KillTests {
    /// A download that is killed again and again.
    struct Scenario: Sendable, CustomTestStringConvertible {
        var name: String
        var size: Int64
        var kills: Int
        var seed: UInt64
        var arguments: [String]
        /// Bytes a second, of the whole server, or of each connection.
        var rate: Int64
        var isRatePerConnection = false
        var isTLS = false
        /// The most that may be fetched again after one kill, beside what sockets held.
        var bound: Int64 = 64 << 20
        /// Kills fall after so many bytes of a run, evenly.
        var span: Int64
        var testDescription: String { name }
    }

    /// What the sockets of one run can hold: server's and client's buffers.
    private static let sockets: Int64 = 8 << 20

    static let scenarios: [Scenario] = [
        Scenario(
            name: "one connection, 16 MiB", size: 16 << 20, kills: 12, seed: 1, arguments: ["-x", "1"], rate: 4 << 20,
            span: 8 << 20),
        Scenario(
            name: "8 connections, 48 MiB", size: 48 << 20, kills: 12, seed: 2, arguments: ["-x", "8"], rate: 1 << 20,
            isRatePerConnection: true, span: 10 << 20),
        // No disk in the way: here what came in the last two seconds is the bound, at 4 MiB a second.
        Scenario(
            name: "--no-fsync, 24 MiB", size: 24 << 20, kills: 10, seed: 3, arguments: ["-x", "4", "--no-fsync"],
            rate: 4 << 20, bound: 8 << 20, span: 16 << 20),
        Scenario(
            name: "TLS, 16 MiB", size: 16 << 20, kills: 10, seed: 4, arguments: ["-x", "2", "--ca-file", "ca.pem"],
            rate: 4 << 20, isTLS: true, span: 8 << 20),
        Scenario(
            name: "a small file in memory", size: 900_000, kills: 12, seed: 5, arguments: [], rate: 1 << 20,
            span: 1_000_000),
    ]

    @Test(
        "B1: killed at any moment, the final name is absent or whole, and what the journal claims is there",
        arguments: scenarios)
    func loop(_ scenario: Scenario) async throws {
        var configuration = OriginServer.Configuration()
        if scenario.isRatePerConnection {
            configuration.connectionRate = scenario.rate
        } else {
            configuration.serverRate = scenario.rate
        }
        configuration.sendBuffer = 65_536
        if scenario.isTLS { configuration.certificate = .good }
        try await OriginServer.with(configuration) { server in
            let resource = Resource(size: scenario.size, seed: scenario.seed)
            server.serve("/f.bin", resource)
            let place = try Workplace()
            let outside = try Workplace()
            try outside.write(OriginServer.caPEM, to: "ca.pem")
            let arguments =
                ["get", "-q"] + scenario.arguments.map { $0 == "ca.pem" ? outside.path($0) : $0 }
                + [server.url("/f.bin")]
            var random = SeededRandom(scenario.seed)
            var held: Int64 = 0
            var finished: Int64 = 0
            for kill in 1...scenario.kills {
                let context = "seed \(scenario.seed), kill \(kill)"
                let before = server.bodyBytes()
                let runs = server.requests.count
                // One in six falls on the first moments, where names are taken and the first journal is written.
                let after = kill % 6 == 0 ? 0 : Int64.random(in: 0...scenario.span, using: &random)
                try await Self.run(arguments, place, killedWhen: server) {
                    $0.requestCount > runs && $0.bodyBytes >= before + after
                }
                let state = HeldState("f.bin", of: resource, in: place, context: context)
                let served = server.bodyBytes() - before
                #expect(
                    state.bytes >= min(scenario.size, held + served) - scenario.bound - Self.sockets,
                    "\(context): held \(held), then \(served) came, and \(state.bytes) are left")
                // Claims of one identity only grow.
                #expect(state.bytes >= held, "\(context)")
                held = state.bytes
                if state.isComplete {
                    finished += 1
                    held = 0
                    for name in place.names { try FileManager.default.removeItem(atPath: place.path(name)) }
                }
            }
            server.setConnectionRate(nil)
            server.setServerRate(nil)
            let outcome = try await FerryProcess.run(arguments, in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [place.path("f.bin")])
            #expect(place.names == ["f.bin"])
            #expect(resource.source.compare(file: place.path("f.bin"), size: resource.size) == .equal)
            let bound = (finished + 1) * scenario.size + Int64(scenario.kills) * (scenario.bound + Self.sockets)
            #expect(server.bodyBytes() <= bound)
        }
    }

    /// Runs it until the origin's traffic meets a condition, and kills it then; or until it ends by itself.
    private static func run(
        _ arguments: [String], _ place: Workplace, killedWhen server: OriginServer,
        _ condition: @escaping @Sendable (Traffic) -> Bool
    ) async throws {
        let process = try FerryProcess(arguments, in: place)
        let code = try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask {
                try await server.waitFor(condition)
                return nil
            }
            // Cancelled, this kills the process with SIGKILL and waits for its end.
            group.addTask { try await process.outcome().code }
            let first = try await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let code {
            let error = try await process.outcome().error
            #expect(code == 0, "\(error)")
        } else {
            let outcome = try await process.outcome()
            #expect(outcome.code == 128 + SIGKILL || outcome.code == 0, "\(outcome.error)")
        }
    }
}

/// SplitMix64: the same numbers for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
