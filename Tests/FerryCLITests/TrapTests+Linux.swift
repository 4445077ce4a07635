#if os(Linux)
    import CFerry
    import FerryTesting
    import Foundation
    import Testing

    @Suite("Traps leave a backtrace", .timeLimit(.minutes(30))) struct TrapTests {
        /// Sends a signal to the first thread of the process that has such a name.
        private static func signal(_ number: Int32, thread name: String, of process: Int32) throws {
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
            let thread = try #require(
                threads.first { thread in
                    let path = "/proc/\(process)/task/\(thread)/comm"
                    return (try? String(contentsOfFile: path, encoding: .utf8))?.hasPrefix(name) == true
                })
            #expect(ferry_tgkill(process, try #require(Int32(thread)), number) == 0)
        }

        @Test("A program that traps names the function that did, and its callers, and ends by the trap's signal")
        func program() async throws {
            let place = try Workplace()
            let printed = place.path("printed")
            #expect(FileManager.default.createFile(atPath: printed, contents: nil))
            let error = try #require(FileHandle(forWritingAtPath: printed))
            let program = try RunningProgram(
                [try BuiltProgram.url("ferry-app").path, "trap"], environment: ["SWIFT_BACKTRACE": "enable=no"],
                error: error)
            let end = await program.end()
            #expect([.killed(by: SIGILL), .killed(by: SIGTRAP)].contains(end))
            let text = try String(contentsOfFile: printed, encoding: .utf8)
            #expect(text.contains(" critical ferry: trapped: SIG"), "\(text)")
            #expect(text.contains("ferry_app.AppTrap"), "\(text)")
            #expect(text.contains("read"), "\(text)")
        }

        @Test("A daemon without standard error: the backtrace of a trap is in its log, with the names of functions")
        func daemon() async throws {
            let place = try Workplace()
            let null = try #require(FileHandle(forUpdatingAtPath: "/dev/null"))
            let serve = try await ServeProcess.start(in: place, error: .handle(null))
            try Self.signal(SIGTRAP, thread: "NIO-ELT", of: serve.process.id)
            #expect(try await serve.process.outcome().code == 128 + SIGTRAP)
            let log = try String(contentsOfFile: place.path("state/daemon.log"), encoding: .utf8)
            let trap = try #require(log.range(of: " critical ferry: trapped: SIGTRAP, backtrace: 0x"), "\(log)")
            #expect(log[trap.upperBound...].contains("NIOPosix.SelectableEventLoop.run("), "\(log)")
        }
    }
#endif
