#if canImport(Darwin)
    import Darwin
    import Foundation

    /// A program that was started by this process and does not depend on it; on macOS alone.
    package struct SpawnedProgram: Sendable {
        package struct Failure: Error { package var reason: String }

        private let process: pid_t
        /// The other end of its descriptor 3; -1 when it has none.
        private let ready: Int32

        #if os(macOS)
            /// Starts a program in a new session, with default signals; its standard streams are `/dev/null`, no other
            /// descriptor of ours is open in it, and it begins in `/`. With `hearsReady`, its descriptor 3 is a pipe to us.
            package static func spawn(
                _ words: [String], environment variables: [String: String], hearsReady: Bool = false
            ) throws(Failure) -> SpawnedProgram {
                var ends: [Int32] = [-1, -1]
                guard !hearsReady || pipe(&ends) == 0 else { throw Failure(reason: String(cString: strerror(errno))) }
                defer { if hearsReady { close(ends[1]) } }
                var files: posix_spawn_file_actions_t?
                posix_spawn_file_actions_init(&files)
                defer { posix_spawn_file_actions_destroy(&files) }
                if hearsReady { posix_spawn_file_actions_adddup2(&files, ends[1], 3) }
                posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
                posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
                posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0)
                posix_spawn_file_actions_addchdir_np(&files, "/")

                var attributes: posix_spawnattr_t?
                posix_spawnattr_init(&attributes)
                defer { posix_spawnattr_destroy(&attributes) }
                var signals = sigset_t()
                sigemptyset(&signals)
                posix_spawnattr_setsigmask(&attributes, &signals)
                sigfillset(&signals)
                posix_spawnattr_setsigdefault(&attributes, &signals)
                let flags =
                    POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
                posix_spawnattr_setflags(&attributes, Int16(flags))

                var arguments = words.map { strdup($0) } + [nil]
                var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
                defer { for word in arguments + environment { free(word) } }
                var process: pid_t = 0
                let failure = posix_spawn(&process, words[0], &files, &attributes, &arguments, &environment)
                guard failure == 0 else {
                    if hearsReady { close(ends[0]) }
                    throw Failure(reason: String(cString: strerror(failure)))
                }
                return SpawnedProgram(process: process, ready: ends[0])
            }
        #else
            package static func spawn(
                _ words: [String], environment variables: [String: String], hearsReady: Bool = false
            ) throws(Failure) -> SpawnedProgram {
                throw Failure(reason: "this system lets no app start another program")
            }
        #endif

        /// Waits for the one line on the pipe, at most 64 KiB, and closes it; empty when it was closed before.
        package func readyLine() -> [UInt8] {
            guard ready >= 0 else { return [] }
            defer { close(ready) }
            var line: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4096)
            while line.count < 65_536, line.last != UInt8(ascii: "\n") {
                let count = read(ready, &piece, piece.count)
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
