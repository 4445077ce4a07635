#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// The Landlock system calls (landlock(7)).
    package enum Landlock {
        /// The path of a failed call, empty if the call takes none, and its `errno`.
        struct Failure: Error {
            var path: String
            var code: Int32
        }

        /// The ABI version of the kernel's Landlock; 0 if Landlock is missing or disabled.
        package static var version: Int { max(0, Int(ferry_landlock_version())) }

        /// Permanently restricts the calling thread and its child processes to changes below these directories. Other threads keep
        /// their rights until exec(2) ends them.
        static func restrict(to directories: [String], _ rights: LandlockRights) throws(Failure) {
            let ruleset = ferry_landlock_ruleset(rights.handled.rawValue, rights.scopes.rawValue)
            guard ruleset >= 0 else { throw Failure(path: "", code: errno) }
            defer { close(ruleset) }
            for directory in directories {
                try allow(rights.belowDirectory, at: directory, ferry_O_PATH | O_DIRECTORY, in: ruleset)
            }
            try allow(rights.onNull, at: "/dev/null", ferry_O_PATH, in: ruleset)
            guard ferry_landlock_restrict(ruleset) == 0 else { throw Failure(path: "", code: errno) }
        }

        private static func allow(
            _ access: LandlockRights.Access, at path: String, _ flags: Int32, in ruleset: Int32
        ) throws(Failure) {
            let descriptor = open(path, flags | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
            defer { close(descriptor) }
            guard ferry_landlock_allow(ruleset, descriptor, access.rawValue) == 0 else {
                throw Failure(path: path, code: errno)
            }
        }

        /// Whether a restriction is in force: the process may not open its own thread's `comm` for writing, which the
        /// kernel otherwise allows every process (proc_pid_comm(5)).
        static var isInForce: Bool {
            let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard descriptor < 0 else {
                close(descriptor)
                return false
            }
            return errno == EACCES
        }

        /// Creates a memory file. Returns its descriptor, which is close-on-exec, or -1 with `errno` set.
        static func makeMemory() -> Int32 { ferry_memfd("ferry-confinement") }
    }
#endif
