#if canImport(Darwin)
    import Darwin

    extension Spawning {
        #if os(macOS)
            /// Starts the program and returns its process id; the caller must reap it.
            package func start() throws(Failure) -> Int32 {
                guard let program = words.first else { throw Failure(code: EINVAL) }
                var files: posix_spawn_file_actions_t?
                posix_spawn_file_actions_init(&files)
                defer { posix_spawn_file_actions_destroy(&files) }
                for (number, descriptor) in [input, output, error].enumerated() {
                    if let descriptor {
                        posix_spawn_file_actions_adddup2(&files, descriptor, Int32(number))
                    } else {
                        posix_spawn_file_actions_addopen(
                            &files, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
                    }
                }
                if let ready { posix_spawn_file_actions_adddup2(&files, ready, 3) }
                if let directory { posix_spawn_file_actions_addchdir_np(&files, directory) }

                var attributes: posix_spawnattr_t?
                posix_spawnattr_init(&attributes)
                defer { posix_spawnattr_destroy(&attributes) }
                // Do not inherit this process's blocked and ignored signals.
                var signals = sigset_t()
                sigemptyset(&signals)
                posix_spawnattr_setsigmask(&attributes, &signals)
                sigfillset(&signals)
                posix_spawnattr_setsigdefault(&attributes, &signals)
                posix_spawnattr_setpgroup(&attributes, 0)
                let group = startsSession ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP
                let flags = group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
                posix_spawnattr_setflags(&attributes, Int16(flags))

                var arguments = words.map { strdup($0) } + [nil]
                var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
                defer { for word in arguments + variables { free(word) } }
                var process: pid_t = 0
                let code = posix_spawnp(&process, program, &files, &attributes, &arguments, &variables)
                guard code == 0 else { throw Failure(code: code) }
                return process
            }
        #else
            /// A stub, because on these systems an app cannot start another program.
            package func start() throws(Failure) -> Int32 { throw Failure(code: ENOTSUP) }
        #endif

        /// Creates a pipe. Started programs do not inherit it, nor any other descriptor that is not passed to them.
        ///
        /// - Parameter blocks: Whether a read waits for bytes, and a write for space.
        package static func pipe(blocks: Bool = true) throws(Failure) -> (reading: Int32, writing: Int32) {
            var ends: [Int32] = [-1, -1]
            // allow(pipe): creates the pipes for all other code.
            guard Darwin.pipe(&ends) == 0 else { throw Failure(code: errno) }
            for end in ends {
                // There is no pipe2(2), so another part of the app may start a program between the two calls.
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                if !blocks { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            }
            return (ends[0], ends[1])
        }
    }
#endif
