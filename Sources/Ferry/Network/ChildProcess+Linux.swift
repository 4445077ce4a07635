#if os(Linux)
    import CFerry
    import FoundationEssentials

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A child process whose standard output is read.
    ///
    /// The child leads its own process group, so that it receives no Ctrl-C from the terminal and can be killed with its
    /// descendants; it inherits only the three standard descriptors.
    struct ChildProcess {
        private let process: pid_t
        /// The non-blocking read end of the child's standard output.
        let output: Int32
        /// The write end of the child's standard input; the kernel closes it when this process ends, for any reason.
        private let lifeline: Int32

        /// A shell script that ends the command when its own standard input ends.
        ///
        /// The script signals its own process group, because the shell may already have reaped a command that has ended, and
        /// another process may have received the command's process identifier.
        static let guardian = #""$@" & exec >/dev/null 2>&1; read -r line; kill 0"#

        /// Starts a program with arguments; `nil` if it is missing or cannot be started.
        static func start(_ program: String, _ arguments: [String]) -> ChildProcess? {
            spawn([program] + arguments, hasLifeline: false)
        }

        /// Starts a program that runs until ``end()`` or until this process ends.
        static func startForLife(_ program: String, _ arguments: [String]) -> ChildProcess? {
            spawn(["/bin/sh", "-c", guardian, "sh", program] + arguments, hasLifeline: true)
        }

        /// Kills the process group, and reaps the child, which ends at once.
        func end() {
            kill(-process, SIGKILL)
            close(output)
            if lifeline >= 0 { close(lifeline) }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }

        /// Reads available bytes; empty if there are none yet, `nil` at the end.
        func read() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = ferry_read(output, &buffer, buffer.count)
                if count > 0 { return Array(buffer[..<count]) }
                if count < 0, errno == EINTR { continue }
                return count < 0 && errno == EAGAIN ? [] : nil
            }
        }

        private static func spawn(_ words: [String], hasLifeline: Bool) -> ChildProcess? {
            guard let output = try? Spawning.pipe() else { return nil }
            var lifeline: (reading: Int32, writing: Int32) = (-1, -1)
            if hasLifeline {
                guard let pair = try? Spawning.pipe() else {
                    close(output.reading)
                    close(output.writing)
                    return nil
                }
                lifeline = pair
            }
            let process = spawn(words, input: lifeline.reading, output: output.writing)
            close(output.writing)
            if hasLifeline { close(lifeline.reading) }
            guard let process else {
                close(output.reading)
                if hasLifeline { close(lifeline.writing) }
                return nil
            }
            _ = fcntl(output.reading, F_SETFL, O_NONBLOCK)
            return ChildProcess(process: process, output: output.reading, lifeline: lifeline.writing)
        }

        private static func spawn(_ words: [String], input: Int32, output: Int32) -> pid_t? {
            // LC_ALL=C, because the output is parsed.
            let variables = ChildEnvironment.command(from: ProcessInfo.processInfo.environment)
                .merging(["LC_ALL": "C"]) { $1 }
            var spawning = Spawning(words, environment: variables)
            spawning.input = input < 0 ? nil : input
            spawning.output = output
            return try? spawning.start()
        }
    }
#endif
