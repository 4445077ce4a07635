#if canImport(Darwin)
    import Darwin
    import Foundation

    extension SpawnedProgram {
        #if os(macOS)
            /// Starts a program in a new session with default signals, in `/`; its standard streams are `/dev/null`,
            /// and it inherits no other descriptor. With `hearsReady`, its descriptor 3 is a pipe to this process.
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
    }
#endif
