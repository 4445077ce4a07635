import FerryTesting
import Foundation
import Testing

/// Killed by `strace` as it enters its n-th system call of a kind.
@Suite(
    "The binary: kills at system calls", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: Strace.canInject, "no strace here"))
struct SystemCallKillTests {
    /// A call of a kind, and the size of the file: the small one is published from memory.
    struct Moment: Sendable, CustomTestStringConvertible {
        var call: String
        var count: Int
        var size: Int64
        var testDescription: String { "\(call) \(count), \(size) bytes" }
    }

    /// The first calls of each kind; if there are fewer, the run completes.
    private static let moments: [Moment] = {
        let large = [
            ("pwrite64", [1, 2, 4, 7]), ("fdatasync", [1, 2, 3]), ("fsync", [1, 2]), ("renameat2", [1]),
            ("fchmod", [1]), ("fsetxattr", [1]), ("unlinkat", [1]),
        ]
        let small = [("fsync", [1, 2]), ("linkat", [1])]
        return large.flatMap { call, counts in counts.map { Moment(call: call, count: $0, size: 3_000_000) } }
            + small.flatMap { call, counts in counts.map { Moment(call: call, count: $0, size: 100_000) } }
    }()

    /// The first call of each kind is always made. `strace` counts further ones for each thread: there may be fewer. A kill at
    /// every call there is, counted over all threads, is in `FallTests`.
    private static func expectKill(_ outcome: FerryProcess.Outcome, _ count: Int, _ context: String) {
        #expect(
            outcome.code == 128 + SIGKILL || (count > 1 && outcome.code == 0),
            "\(context): \(outcome.code), \(outcome.error)")
    }

    @Test(
        "ferry get: killed at a system call, the held bytes are right, and the next run completes the name (B1)",
        arguments: moments)
    func killed(at moment: Moment) async throws {
        let size = moment.size
        try await OriginServer.with { server in
            let resource = Resource(size: size, seed: 21)
            server.serve("/f.bin", resource)
            let place = try Workplace()
            // Half of the file is there from an interrupted run, so that the resume is killed too.
            if size > 1 << 20 {
                server.script("/f.bin", [.cut(after: 2_000_000)], then: .status(403))
                _ = try await FerryProcess.run(["get", "-q", "-x", "1", server.url("/f.bin")], in: place)
                server.always("/f.bin", .honest)
            }
            let killed = try await FerryProcess.run(
                ["get", "-q", "-x", "1", server.url("/f.bin")], in: place,
                shell: Strace.line(calls: moment.call, count: moment.count))
            let context = "\(moment.call) \(moment.count)"
            Self.expectKill(killed, moment.count, context)
            _ = HeldState("f.bin", of: resource, in: place, context: context)
            let outcome = try await FerryProcess.run(["get", "-q", "-x", "1", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(context): \(outcome.error)")
            #expect(place.names == ["f.bin"], "\(context)")
            #expect(resource.source.compare(file: place.path("f.bin"), size: size) == .equal, "\(context)")
        }
    }

    @Test(
        "ferry get: killed at the first call of a new download, the next run completes the same name (B1)",
        arguments: ["fallocate", "flock", "pwrite64", "fdatasync", "fsync", "renameat2"])
    func fresh(call: String) async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 3_000_000, seed: 22)
            server.serve("/f.bin", resource)
            let place = try Workplace()
            let killed = try await FerryProcess.run(
                ["get", "-q", "-x", "1", server.url("/f.bin")], in: place, shell: Strace.line(calls: call, count: 1))
            Self.expectKill(killed, 1, call)
            _ = HeldState("f.bin", of: resource, in: place, context: call)
            let outcome = try await FerryProcess.run(["get", "-q", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(call): \(outcome.error)")
            #expect(place.names == ["f.bin"], "\(call)")
            #expect(resource.source.compare(file: place.path("f.bin"), size: resource.size) == .equal)
        }
    }

    /// A backup pair once blocked the name: the new file became `f (1).bin`, and the old pair stayed for ever.
    @Test(
        "ferry get: killed while a changed file is put aside, the next run completes the same name (B1)",
        arguments: ["renameat", "flock", "fallocate", "linkat", "pwrite64", "fsync", "fdatasync"], 1...3)
    func changed(call: String, count: Int) async throws {
        try await OriginServer.with { server in
            let (old, new) = (Resource(size: 3_000_000, seed: 23), Resource(size: 3_100_000, seed: 24))
            server.serve("/f.bin", old)
            server.script("/f.bin", [.cut(after: 2_000_000)], then: .status(403))
            let place = try Workplace()
            let arguments = ["get", "-q", "-x", "1", server.url("/f.bin")]
            _ = try await FerryProcess.run(arguments, in: place)
            server.always("/f.bin", .honest)
            server.serve("/f.bin", new)
            let killed = try await FerryProcess.run(
                arguments, in: place, shell: Strace.line(calls: call, count: count))
            let context = "\(call) \(count)"
            Self.expectKill(killed, count, context)
            #expect(!place.names.contains { $0.hasPrefix("f (1)") }, "\(context): \(place.names)")
            let outcome = try await FerryProcess.run(arguments, in: place)
            #expect(outcome.code == 0, "\(context): \(outcome.error)")
            #expect(place.names == ["f.bin"], "\(context)")
            #expect(new.source.compare(file: place.path("f.bin"), size: new.size) == .equal, "\(context)")
        }
    }
}
