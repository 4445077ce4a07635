import FerryTesting
import Foundation
import Testing

@Suite("RunningProgram", .timeLimit(.minutes(30)))
struct RunningProgramTests {
    @Test("RunningProgram: the end and the output of both streams are reported")
    func ends() throws {
        let (end, text) = try RunningProgram.run(["/bin/sh", "-c", "echo one; echo two >&2; exit 7"])
        #expect(end == .exited(7))
        #expect(end.code == 7)
        #expect(text == "one\ntwo\n")
        let (killed, _) = try RunningProgram.run(["/bin/sh", "-c", "kill -TERM $$"])
        #expect(killed == .killed(by: SIGTERM))
        #expect(killed.code == 128 + SIGTERM)
    }

    @Test("RunningProgram: it has the given variables, directory and arguments, and no others")
    func surroundings() throws {
        let directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        let (_, text) = try RunningProgram.run(
            ["/bin/sh", "-c", #"pwd -P; echo "$A|$HOME|$1""#, "sh", "a b"], environment: ["A": "x=y"],
            directory: directory)
        #expect(text == "\(directory)\nx=y||a b\n")
    }

    @Test("RunningProgram: a missing program or directory is an error")
    func missing() {
        #expect(throws: RunningProgram.StartFailure.self) { try RunningProgram.run(["/nowhere/program"]) }
        #expect(throws: RunningProgram.StartFailure.self) { try RunningProgram.run(["ferry-is-no-such-program"]) }
        #expect(throws: RunningProgram.StartFailure.self) { try RunningProgram.run(["true"], directory: "/nowhere") }
        #expect(throws: RunningProgram.StartFailure.self) { try RunningProgram.run([]) }
        #expect(!RunningProgram.succeeds(["/nowhere/program"]))
        #expect(!RunningProgram.succeeds(["false"]))
        #expect(RunningProgram.succeeds(["true"]))
    }

    @Test("RunningProgram: a signal ends it, and end() waits for that", arguments: [SIGTERM, SIGKILL])
    func signals(signal: Int32) async throws {
        let output = Pipe()
        let program = try RunningProgram(
            ["/bin/sh", "-c", "echo ready; exec sleep 1000"], output: output.fileHandleForWriting)
        try output.fileHandleForWriting.close()
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        #expect(program.ended == nil)
        program.signal(signal)
        #expect(await program.end() == .killed(by: signal))
        #expect(program.ended == .killed(by: signal))
        // Without a process this does nothing.
        program.signal(signal)
    }

    @Test("RunningProgram: a released program ends with all processes it has started")
    func abandoned() throws {
        let output = Pipe()
        var program: RunningProgram? = try RunningProgram(
            ["/bin/sh", "-c", "sleep 1000 & echo ready; sleep 1000"], output: output.fileHandleForWriting)
        try output.fileHandleForWriting.close()
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        #expect(program?.ended == nil)
        program = nil
        // All three processes had this pipe.
        #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)
    }

    @Test("RunningProgram: it is killed at its time limit")
    func limit() async throws {
        let program = try RunningProgram(["sleep", "1000"], limit: 0.1)
        #expect(await program.end() == .killed(by: SIGKILL))
    }
}
