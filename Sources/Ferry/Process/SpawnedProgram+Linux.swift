#if os(Linux)
    import CFerry
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A program that was started by this process and does not depend on it.
    package struct SpawnedProgram: Sendable {
        package struct Failure: Error { package var reason: String }

        private let process: pid_t
        /// The other end of its descriptor 3; -1 when it has none.
        private let ready: Int32

        /// Starts a program in a new session, with default signals; its standard streams are `/dev/null`, no other
        /// descriptor of ours is open in it, and it begins in `/`. With `hearsReady`, its descriptor 3 is a pipe to us.
        package static func spawn(
            _ words: [String], environment variables: [String: String], hearsReady: Bool = false
        ) throws(Failure) -> SpawnedProgram {
            let pipe = hearsReady ? try makePipe() : (reading: -1, writing: -1)
            defer { if hearsReady { close(pipe.writing) } }

            var files = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&files)
            defer { posix_spawn_file_actions_destroy(&files) }
            if hearsReady { posix_spawn_file_actions_adddup2(&files, pipe.writing, 3) }
            posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0)
            _ = ferry_spawn_closefrom(&files, hearsReady ? 4 : 3)
            // Where the app is, is nothing to it: it must not keep a disk from being taken away.
            _ = ferry_spawn_chdir(&files, "/")

            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // What an app blocks or ignores is its own business.
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setflags(&attributes, ferry_SPAWN_SESSION_FLAGS)

            var arguments = words.map { strdup($0) } + [nil]
            var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
            defer { for word in arguments + environment { free(word) } }
            var process: pid_t = 0
            let failure = posix_spawn(&process, words[0], &files, &attributes, &arguments, &environment)
            guard failure == 0 else {
                if hearsReady { close(pipe.reading) }
                throw Failure(reason: String(cString: strerror(failure)))
            }
            return SpawnedProgram(process: process, ready: pipe.reading)
        }

        private static func makePipe() throws(Failure) -> (reading: Int32, writing: Int32) {
            var ends: [Int32] = [-1, -1]
            guard ferry_pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure(reason: String(cString: strerror(errno))) }
            // Out of the way of the number that it gets in the child.
            let high = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
            let error = errno
            close(ends[1])
            guard high >= 0 else {
                close(ends[0])
                throw Failure(reason: String(cString: strerror(error)))
            }
            return (ends[0], high)
        }

        /// Waits for the one line on the pipe, at most 64 KiB, and closes it; empty when it was closed before.
        package func readyLine() -> [UInt8] {
            guard ready >= 0 else { return [] }
            defer { close(ready) }
            var line: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4096)
            while line.count < 65_536, line.last != UInt8(ascii: "\n") {
                let count = ferry_read(ready, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                line += piece[..<count]
            }
            return line
        }

        /// Waits for its end: its exit code, or 128 and the number of the signal.
        package func wait() -> Int32 {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 { if errno != EINTR { return -1 } }
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : 128 + signal
        }
    }
#endif
