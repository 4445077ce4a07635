#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Starts a program with posix_spawn(3).
    ///
    /// The program inherits only its three standard streams and ``ready``, however many descriptors are open. It
    /// leads its own process group, with no signal blocked and every signal at its default action.
    package struct Spawning {
        /// The program and its arguments; without a slash, the program is searched in this process's PATH.
        package var words: [String]
        package var environment: [String: String]
        /// The working directory; `nil` for this process's own.
        package var directory: String?
        /// Descriptors of this process for the standard streams, not closed by ``start()``; `nil` for /dev/null.
        package var input: Int32?
        package var output: Int32?
        package var error: Int32?
        /// A descriptor of this process above 3 that becomes the program's descriptor 3, not closed by ``start()``;
        /// `nil` for none.
        package var ready: Int32?
        /// Whether the program also leads a new session, so that the end of this session does not end it.
        package var startsSession = false

        /// The `errno` of a failed start.
        package struct Failure: Error {
            package let code: Int32
        }

        package init(_ words: [String], environment: [String: String]) {
            self.words = words
            self.environment = environment
        }

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
    }
#endif
