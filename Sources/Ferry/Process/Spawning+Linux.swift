#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// What a program is started with, by posix_spawn(3).
    ///
    /// It inherits no descriptor but its three standard streams and ``ready``, however many are open; it leads a process group
    /// of its own, with nothing blocked and every signal at its default.
    package struct Spawning {
        /// The program and its arguments; without a slash it is looked for in our own PATH.
        package var words: [String]
        package var environment: [String: String]
        /// Where it runs; `nil`: where we do.
        package var directory: String?
        /// Descriptors of ours for its standard streams, which stay open here; `nil`: /dev/null.
        package var input: Int32?
        package var output: Int32?
        package var error: Int32?
        /// A descriptor of ours above 3 that is its descriptor 3, and stays open here; `nil`: it has none.
        package var ready: Int32?
        /// It leads a session of its own too: nothing that ends ours ends it.
        package var startsSession = false

        /// Why it could not be started: `errno`.
        package struct Failure: Error {
            package let code: Int32
        }

        package init(_ words: [String], environment: [String: String]) {
            self.words = words
            self.environment = environment
        }

        /// Starts it, and returns its process id; whoever calls waits for its end.
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
            // What we block or ignore is our own business.
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
