#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension Spawning {
        /// Starts the program and returns its process id; the caller must reap it.
        package func start() throws(Failure) -> Int32 {
            guard let program = words.first else { throw Failure(code: EINVAL) }
            var files = posix_spawn_file_actions_t()
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
            _ = ferry_spawn_closefrom(&files, ready == nil ? 3 : 4)
            if let directory {
                let code = ferry_spawn_chdir(&files, directory)
                guard code == 0 else { throw Failure(code: code) }
            }

            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // Do not inherit this process's blocked and ignored signals.
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setpgroup(&attributes, 0)
            posix_spawnattr_setflags(&attributes, startsSession ? ferry_SPAWN_SESSION_FLAGS : ferry_SPAWN_FLAGS)

            var arguments = words.map { strdup($0) } + [nil]
            var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
            defer { for word in arguments + variables { free(word) } }
            var process: pid_t = 0
            let code = posix_spawnp(&process, program, &files, &attributes, &arguments, &variables)
            guard code == 0 else { throw Failure(code: code) }
            return process
        }

        /// Creates a pipe that no other program inherits.
        ///
        /// - Parameter blocks: Whether a read waits for bytes, and a write for space.
        package static func pipe(blocks: Bool = true) throws(Failure) -> (reading: Int32, writing: Int32) {
            var ends: [Int32] = [-1, -1]
            // allow(pipe): creates the pipes for all other code.
            guard ferry_pipe2(&ends, blocks ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK) == 0 else {
                throw Failure(code: errno)
            }
            return (ends[0], ends[1])
        }
    }
#endif
