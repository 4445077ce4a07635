#if os(Linux)
    import FerryTesting
    import Foundation
    import Testing

    @testable import Ferry

    @Suite("The guardian of a program that watches the network", .timeLimit(.minutes(30)))
    struct GuardianTests {
        /// Runs the guardian in this shell, and closes its input when it has printed a line.
        private func end(_ shell: String, _ command: [String]) async throws -> (line: String, end: RunningProgram.End) {
            let (input, output) = (Pipe(), Pipe())
            let guardian = try RunningProgram(
                [shell, "-c", ChildProcess.guardian, "sh"] + command, input: input.fileHandleForReading,
                output: output.fileHandleForWriting)
            try input.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            let reading = output.fileHandleForReading
            let line = await withCheckedContinuation { (continuation: CheckedContinuation<Data, Never>) in
                Thread.detachNewThread { continuation.resume(returning: reading.availableData) }
            }
            try input.fileHandleForWriting.close()
            return (String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines), await guardian.end())
        }

        @Test("Guardian: ends the program with itself when its input ends", arguments: ["sh", "bash"])
        func program(shell: String) async throws {
            let (line, end) = try await end(shell, ["sh", "-c", "echo $$; exec sleep 100000"])
            #expect(end == .killed(by: SIGTERM))
            let process = try #require(Int32(line))
            try await eventually { kill(process, 0) != 0 || isZombie(process) }
        }

        @Test("Guardian: signals no process by the number of a program that has ended", arguments: ["sh", "bash"])
        func ended(shell: String) async throws {
            #expect(try await end(shell, ["echo", "done"]) == ("done", .killed(by: SIGTERM)))
        }

        private func isZombie(_ process: Int32) -> Bool {
            (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") ?? true
        }
    }
#endif
