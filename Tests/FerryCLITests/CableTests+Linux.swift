#if os(Linux)
    import FerryTesting
    import Foundation
    import Testing

    @Suite(
        "The binary: the cable is pulled", .timeLimit(.minutes(5)),
        .enabled(if: NetworkNamespace.isPossible, "network namespaces may not be made here: needs root and `ip`"))
    struct CableTests {
        @Test("B13: without a network it waits and counts no attempt; when it is back it goes on with what it has")
        func pulled() async throws {
            try await NetworkNamespace.with { network in
                try network.near("route add default via 192.0.2.1 dev eth0")
                let (input, output) = (Pipe(), Pipe())
                // It ends with its input.
                let origin = try RunningProgram(
                    [
                        "/usr/sbin/ip", "netns", "exec", network.outside, FerryProcess.program("ferry-origin").path,
                        "serve",
                        "--address", "192.0.2.1", "--rate", "4M", "--parent-watch",
                    ], input: input.fileHandleForReading, output: output.fileHandleForWriting)
                try input.fileHandleForReading.close()
                try output.fileHandleForWriting.close()
                let base = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
                    .trimmingCharacters(in: .newlines)
                let place = try Workplace()
                let process = try FerryProcess(
                    ["get", "-v", "-x", "1", "--retries", "0", base + "/file/16M?seed=5"], in: place,
                    environment: ["NO_COLOR": "1"], error: .terminal(columns: 100, lines: 24),
                    shell: "exec /usr/sbin/ip netns exec \(network.inside) \"$@\"")
                await process.waitForTerminal("25.")
                try network.far("link set eth0 down")
                await process.waitForTerminal("waiting: ")
                try network.far("link set eth0 up")
                let outcome = try await process.outcome()
                #expect(outcome.code == 0, "\(outcome.terminal)")
                #expect(outcome.terminal.contains("waiting: "), "\(outcome.terminal)")
                let path = try #require(outcome.lines.first)
                #expect(DeterministicBytes(seed: 5).compare(file: path, size: 16_000_000) == .equal)
                try input.fileHandleForWriting.close()
                #expect(await origin.end() == .exited(0))
            }
        }
    }
#endif
