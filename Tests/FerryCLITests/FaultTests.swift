import FerryTesting
import Foundation
import Testing

/// System calls that fail, by `strace`.
@Suite(
    "The binary: failing system calls", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: Strace.canInject, "no strace here"))
struct FaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var row: String
        var call: String
        var error: String
        var size: Int64 = 3_000_000
        var testDescription: String { "\(row): \(call) gives \(error), \(size) bytes" }
    }

    private static let faults = [
        Fault(row: "B4", call: "fdatasync", error: "EIO"), Fault(row: "B4", call: "pwrite64", error: "EIO"),
        Fault(row: "B4", call: "fsync", error: "EIO"), Fault(row: "B4", call: "fsync", error: "EIO", size: 100_000),
        Fault(row: "B3", call: "pwrite64", error: "ENOSPC"), Fault(row: "B3", call: "pwrite64", error: "EDQUOT"),
        Fault(row: "B3", call: "pwrite64", error: "EFBIG"), Fault(row: "B3", call: "fallocate", error: "ENOSPC"),
    ]

    @Test(
        "ferry get: a call that always fails is exit code 8, and the next run without the fault completes",
        arguments: faults)
    func always(fault: Fault) async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: fault.size, seed: 61)
            server.serve("/f.bin", resource)
            let place = try Workplace()
            let arguments = ["get", "--no-progress", "-x", "1", server.url("/f.bin")]
            let outcome = try await FerryProcess.run(
                arguments, in: place,
                shell: """
                    exec strace -f -qq --seccomp-bpf -o /dev/null -e trace=\(fault.call) \
                    -e inject=\(fault.call):error=\(fault.error) "$@"
                    """)
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
            // Compares the claimed bytes, if there are any.
            _ = HeldState("f.bin", of: resource, in: place, context: "\(fault)")
            let next = try await FerryProcess.run(arguments, in: place)
            #expect(next.code == 0, "\(next.error)")
            #expect(place.names == ["f.bin"])
            #expect(resource.source.compare(file: place.path("f.bin"), size: resource.size) == .equal)
        }
    }

    @Test("ferry get: when sockets run out it completes over the connections it has (B12)")
    func sockets() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 24_000_000, seed: 62)
            server.serve("/f.bin", resource)
            server.always("/f.bin", .rate(4_000_000))
            let place = try Workplace()
            // strace counts for each thread: the first call of each succeeds.
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "-x", "8", server.url("/f.bin")], in: place,
                shell: """
                    exec strace -f -qq --seccomp-bpf -o /dev/null -e trace=socket \
                    -e inject=socket:error=EMFILE:when=2+ "$@"
                    """)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(place.names == ["f.bin"])
            #expect(resource.source.compare(file: place.path("f.bin"), size: resource.size) == .equal)
        }
    }
}
