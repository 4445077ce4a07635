import FerryTesting
import Foundation
import Testing

/// Runs a trial: starts `ferry get`, kills it and checks the directory, repeatedly; then lets it finish.
struct CrashLoop {
    /// The traffic just before the kill.
    private struct Sighting: Sendable {
        /// Bytes that the server had sent in this run.
        var sent: Int64
        /// The number of these bytes that were still in sockets.
        var queued: Int64
    }

    private static let name = "f.bin"
    /// The most bytes that a process has read and not written yet, with the samples that a resume fetches.
    private static let underWay: Int64 = 10 << 20

    private let trial: CrashTrial
    private let server: OriginServer
    private let file: ChangingFile
    private let place: Workplace
    private let arguments: [String]
    /// Kept alive: it has the certificate.
    private let outside: Workplace
    private var random: SeededGenerator
    private var held: (bytes: Int64, version: Int?) = (0, nil)
    private var figures: CrashFigures

    private init(_ trial: CrashTrial, _ server: OriginServer) throws {
        (self.trial, self.server) = (trial, server)
        file = ChangingFile(trial.resource, on: server)
        place = try Workplace()
        outside = try Workplace()
        var arguments = ["get", "-q", server.url(ChangingFile.path)] + trial.arguments
        if trial.variant == .tls {
            try outside.write(OriginServer.caPEM, to: "ca.pem")
            arguments += ["--ca-file", outside.path("ca.pem")]
        }
        self.arguments = arguments
        random = SeededGenerator(seed: trial.seed &* 0x1_0001)
        figures = CrashFigures(trial.variant)
    }

    /// Runs a trial to its end.
    static func run(_ trial: CrashTrial) async throws -> CrashFigures {
        try await OriginServer.with(trial.configuration) { server in
            var loop = try CrashLoop(trial, server)
            var number = 0
            // A run may end before its moment.
            while loop.figures.kills < CrashTrial.killsEach, number < 3 * CrashTrial.killsEach {
                number += 1
                try await loop.runAndKill(number)
            }
            server.setServerRate(nil)
            try await loop.finish("at the end")
            loop.figures.bytesServed = server.bodyBytes()
            return loop.figures
        }
    }

    private func context(_ what: String) -> String {
        "FERRY_CRASH_SEED=\(trial.seed) (\(trial.variant.rawValue), \(trial.size >> 20) MiB), \(what)"
    }

    // MARK: One run

    private mutating func runAndKill(_ number: Int) async throws {
        let context = context("run \(number)")
        let drawn = CrashMoment.draw(number, trial, missing: trial.size - held.bytes, using: &random)
        var changeAfter: Int64?
        if trial.changes {
            if Int.random(in: 0..<4, using: &random) == 0 { file.change() }
            if Int.random(in: 0..<3, using: &random) == 0 {
                changeAfter = Int64.random(in: 0...trial.span, using: &random)
            }
        }
        let begun = file.versions.count
        server.setServerRate(drawn.isFast ? nil : trial.rate)
        let (code, sighting) = try await run(until: drawn.moment, changeAfter: changeAfter, context)
        // Bytes sent to the dead process do not count for the next one.
        try await server.waitFor { $0.openConnections == 0 }
        let state = HeldState(Self.name, of: file.versions, in: place, context: context)
        let isSame = file.versions.count == begun && (held.version ?? begun - 1) == begun - 1
        if code == 128 + SIGKILL {
            figures.addKill()
            // Bytes that a change on the server costs are not lost by the kill.
            if isSame, let sighting { judge(state, sighting, context) }
        }
        held = (state.bytes, state.version)
        if state.isComplete { try await finish(context) }
    }

    /// Compares the held bytes with the received ones.
    private mutating func judge(_ state: HeldState, _ sighting: Sighting, _ context: String) {
        let lost = max(0, held.bytes + sighting.sent - state.bytes)
        figures.add(lost: lost, beforeSockets: max(0, lost - sighting.queued))
        #expect(
            lost <= trial.bound + sighting.queued + Self.underWay,
            "\(context): held \(held.bytes), then \(sighting) came, and \(state.bytes) are left")
        // Claims of one identity only grow; fewer bytes than samples need are fetched again.
        #expect(state.bytes >= held.bytes - (trial.samples ? 1 << 20 : 0), "\(context): held \(held.bytes)")
    }

    private enum Arrival: Sendable {
        case moment(Sighting)
        case end
        case changed
    }

    /// Runs `ferry get` until the moment and kills it then, or until it exits.
    private func run(
        until moment: CrashMoment, changeAfter: Int64?, _ context: String
    ) async throws -> (code: Int32, Sighting?) {
        let (server, file, before) = (server, file, server.traffic)
        let process = try FerryProcess(arguments, in: place, limit: 300)
        let sighting = try await withThrowingTaskGroup(of: Arrival.self) { group -> Sighting? in
            group.addTask {
                try await moment.pass(on: server, since: before)
                // A stopped process reads no more: the bytes in the sockets can be counted now.
                if case .bytes = moment { process.signal(SIGSTOP) }
                let sent = server.bodyBytes() - before.bodyBytes
                return .moment(Sighting(sent: sent, queued: SocketQueues.bytes(from: server.port)))
            }
            // Cancelled, this kills the process with SIGKILL and waits for its end.
            group.addTask {
                _ = try await process.outcome()
                return .end
            }
            if let changeAfter {
                group.addTask {
                    try await CrashMoment.bytes(changeAfter).pass(on: server, since: before)
                    file.change()
                    return .changed
                }
            }
            while let arrival = try await group.next() {
                if case .changed = arrival { continue }
                group.cancelAll()
                if case .moment(let sighting) = arrival { return sighting }
                break
            }
            return nil
        }
        let outcome = try await process.outcome()
        #expect(outcome.code == 0 || sighting != nil && outcome.code == 128 + SIGKILL, "\(context): \(outcome.error)")
        return (outcome.code, sighting)
    }

    // MARK: The end

    /// Runs `ferry get` to its end, and clears the directory for the next download.
    private mutating func finish(_ what: String) async throws {
        let context = context(what)
        let wasComplete = place.names.contains(Self.name)
        let sent = server.bodyBytes()
        let outcome = try await FerryProcess(arguments, in: place, limit: 300).outcome()
        #expect(outcome.code == 0, "\(context): \(outcome.error)")
        if wasComplete, trial.changes {
            // A newer version gets the next name.
            for name in place.names where name != Self.name {
                try? FileManager.default.removeItem(atPath: place.path(name))
            }
        } else {
            #expect(outcome.lines == [place.path(Self.name)], "\(context)")
        }
        if wasComplete, !trial.changes { #expect(server.bodyBytes() == sent, "\(context): it was complete") }
        #expect(place.names == [Self.name], "\(context)")
        let state = HeldState(Self.name, of: file.versions, in: place, context: context)
        #expect(state.isComplete, "\(context)")
        figures.downloads += 1
        for name in place.names { try FileManager.default.removeItem(atPath: place.path(name)) }
        held = (0, nil)
    }
}
