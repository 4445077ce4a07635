#if os(Linux)
    import CFerry
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A program that runs beside us and whose standard output we read.
    ///
    /// It leads a process group of its own, so that a Ctrl-C at the terminal is not meant for it and that it can be ended
    /// with everything it started; it inherits no descriptor but the three standard ones.
    struct ChildProcess {
        private let process: pid_t
        /// Where its output is read, without waiting.
        let output: Int32
        /// The end of a pipe that is its input; closed by the kernel when we die, however we die.
        private let lifeline: Int32

        /// Ends what it runs when its own input ends.
        private static let guardian = #""$@" & child=$!; exec >/dev/null 2>&1; read -r line; kill "$child""#

        /// Starts a program with these arguments; `nil` when it is not there or cannot be started.
        static func start(_ program: String, _ arguments: [String]) -> ChildProcess? {
            spawn([program] + arguments, hasLifeline: false)
        }

        /// Starts a program that runs until ``end()``, or until this process is gone.
        static func startForLife(_ program: String, _ arguments: [String]) -> ChildProcess? {
            spawn(["/bin/sh", "-c", guardian, "sh", program] + arguments, hasLifeline: true)
        }

        /// Kills it with all it started, and waits for its end, which is then immediate.
        func end() {
            kill(-process, SIGKILL)
            close(output)
            if lifeline >= 0 { close(lifeline) }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }

        /// Reads what there is: bytes, none when nothing is there yet, `nil` at the end.
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
            guard let output = pipe() else { return nil }
            var lifeline: (reads: Int32, writes: Int32) = (-1, -1)
            if hasLifeline {
                guard let pair = pipe() else {
                    close(output.reads)
                    close(output.writes)
                    return nil
                }
                lifeline = pair
            }
            let process = spawn(words, input: lifeline.reads, output: output.writes)
            close(output.writes)
            if hasLifeline { close(lifeline.reads) }
            guard let process else {
                close(output.reads)
                if hasLifeline { close(lifeline.writes) }
                return nil
            }
            _ = fcntl(output.reads, F_SETFL, O_NONBLOCK)
            return ChildProcess(process: process, output: output.reads, lifeline: lifeline.writes)
        }

        private static func pipe() -> (reads: Int32, writes: Int32)? {
            var ends: [Int32] = [-1, -1]
            return ferry_pipe2(&ends, O_CLOEXEC) == 0 ? (ends[0], ends[1]) : nil
        }

        private static func spawn(_ words: [String], input: Int32, output: Int32) -> pid_t? {
            var files = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&files)
            defer { posix_spawn_file_actions_destroy(&files) }
            if input >= 0 {
                posix_spawn_file_actions_adddup2(&files, input, 0)
            } else {
                posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
            }
            posix_spawn_file_actions_adddup2(&files, output, 1)
            posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0)
            _ = ferry_spawn_closefrom(&files, 3)

            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // What an app blocks or ignores is its own business.
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setpgroup(&attributes, 0)
            posix_spawnattr_setflags(&attributes, ferry_SPAWN_FLAGS)

            var arguments = words.map { strdup($0) } + [nil]
            // What it prints is read by a program.
            let variables = ProcessInfo.processInfo.environment.merging(["LC_ALL": "C"]) { $1 }
            var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
            defer { for word in arguments + environment { free(word) } }
            var process: pid_t = 0
            return posix_spawnp(&process, words[0], &files, &attributes, &arguments, &environment) == 0 ? process : nil
        }
    }
#endif
