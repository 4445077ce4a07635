import FerryTesting
import Foundation
import Testing

/// Lists of several hosts, each a server of its own address.
@Suite("The binary: hosts of lists", .serialized, .timeLimit(.minutes(30)))
struct HostProcessTests {
    private static let small = Resource(size: 1000, seed: 5)

    private static func configuration(_ address: String) -> OriginServer.Configuration {
        var configuration = OriginServer.Configuration()
        configuration.addresses = [address]
        return configuration
    }

    /// Runs a body with servers at two addresses, which serve `/f`.
    private static func withTwo<T: Sendable>(
        _ body: (_ first: OriginServer, _ second: OriginServer) async throws -> T
    ) async throws -> T {
        try await OriginServer.with(configuration("127.0.0.2")) { first in
            try await OriginServer.with(configuration("127.0.0.3")) { second in
                for server in [first, second] { server.serve("/f", small) }
                return try await body(first, second)
            }
        }
    }

    private static func lines(_ base: String, _ numbers: Range<Int>) -> String {
        numbers.map { "\(base)?\($0)\n" }.joined()
    }

    @Test("ferry get -i: a list sorted by host, whose first host is slow, still gets the files of the others")
    func slow() async throws {
        try await Self.withTwo { slow, other in
            let gate = Gate()
            slow.always("/f", .hold(gate))
            let place = try Workplace()
            // More than a window has places.
            try place.write(Self.lines(slow.url("/f"), 0..<60) + Self.lines(other.url("/f"), 0..<10), to: "list")
            let process = try FerryProcess(["get", "-i", "list", "-j", "4", "--results", "r.jsonl"], in: place)
            _ = try await other.waitFor { $0.requests.filter(\.isFinished).count == 10 }
            // Half of the slots, which nobody else could use before, or all of them.
            #expect((1...4).contains(slow.requests.count))
            gate.open()
            let outcome = try await process.outcome()
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines.count == 70)
            #expect(Set(slow.requests.map(\.head.target)).count == 60)
        }
    }

    @Test("ferry get -i: a dead host is tried by few, its other files fail with its reason, others are complete")
    func dead() async throws {
        let closed = try await OriginServer.with(Self.configuration("127.0.0.4")) { $0.url("/f") }
        try await Self.withTwo { first, second in
            let place = try Workplace()
            try place.write(
                Self.lines(closed, 0..<500) + Self.lines(first.url("/f"), 0..<5) + Self.lines(second.url("/f"), 0..<5),
                to: "list")
            let outcome = try await FerryProcess.run(
                ["get", "-i", "list", "-j", "6", "--retries", "2", "--results", "r.jsonl"], in: place)
            #expect(outcome.lines.count == 10)
            let results = try objects(String(decoding: place.data("r.jsonl"), as: UTF8.self))
                .filter { $0["checkpoint"] == nil }
            let failed = results.filter { $0["status"] as? String == "failed" || $0["error"] != nil }
            #expect(results.count == 510 && failed.count == 500)
            let attempts = failed.reduce(0) { $0 + (($1["attempts"] as? Int ?? 1) - 1) }
            // As many as there are slots begin before the first has failed, each with two retries.
            #expect(attempts <= 12, "\(attempts) attempts beside the first")
            #expect(outcome.error.contains(/127\.0\.0\.4:\d+ was given up/))
            #expect(outcome.error.contains("connection refused"))
        }
    }

    @Test("ferry get -i: Retry-After of one response holds all files of its host, and the other host's go on")
    func retryAfter() async throws {
        try await Self.withTwo { busy, other in
            busy.always("/f", .status(503, retryAfter: "3000"))
            let place = try Workplace()
            try place.write(Self.lines(busy.url("/f"), 0..<40) + Self.lines(other.url("/f"), 0..<40), to: "list")
            let process = try FerryProcess(["get", "-i", "list", "-j", "4"], in: place)
            _ = try await other.waitFor { $0.requests.filter(\.isFinished).count == 40 }
            // Those that were on the way when the first response came.
            #expect(busy.requests.count <= 4)
            process.signal(SIGTERM)
            #expect(try await process.outcome().code != 0)
        }
    }

    @Test("ferry get --host-connections: a host gets no more requests at a time, on any port")
    func connections() async throws {
        try await Self.withTwo { held, other in
            let gate = Gate()
            held.always("/f", .hold(gate))
            let place = try Workplace()
            try place.write(Self.lines(held.url("/f"), 0..<6) + Self.lines(other.url("/f"), 0..<20), to: "list")
            let process = try FerryProcess(["get", "-i", "list", "-j", "8", "--host-connections", "1"], in: place)
            _ = try await other.waitFor { $0.requests.filter(\.isFinished).count == 20 }
            #expect(held.requests.count <= 1)
            gate.open()
            let outcome = try await process.outcome()
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(held.requests.count == 6)
        }
    }

    @Test("ferry get --host-delay: requests to one host begin the delay apart")
    func delay() async throws {
        try await Self.withTwo { first, second in
            let place = try Workplace()
            try place.write(Self.lines(first.url("/f"), 0..<8) + Self.lines(second.url("/f"), 0..<8), to: "list")
            let start = ContinuousClock.now
            let outcome = try await FerryProcess.run(
                ["get", "-i", "list", "-j", "8", "--host-delay", "200ms"], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(first.requests.count == 8 && second.requests.count == 8)
            // A lower bound: seven pauses.
            #expect(ContinuousClock.now - start >= .milliseconds(1400))
        }
    }

    @Test("ferry get: host budgets that are no numbers or times are usage errors")
    func usage() async throws {
        let place = try Workplace()
        for arguments in [["--host-connections", "0"], ["--domain-connections", "0"], ["--host-delay", "soon"]] {
            let outcome = try await FerryProcess.run(["get", "http://h/f"] + arguments, in: place)
            #expect(outcome.code == 2, "\(arguments): \(outcome.error)")
        }
    }
}
