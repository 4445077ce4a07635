#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// The system calls of Landlock.
    package enum Landlock {
        /// A call that failed: on what, and `errno`.
        struct Failure: Error {
            var path: String
            var code: Int32
        }

        /// The version of the kernel's interface; 0 where there is none, or it is switched off.
        package static var version: Int { max(0, Int(ferry_landlock_version())) }

        /// Takes from the calling thread, and from all that it starts, the right to change anything but below these
        /// directories. It cannot be taken back. Other threads of the process keep their rights until exec(2) ends them.
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

        /// Whether this process is refused what only a restriction refuses it: to open the name of its own thread for
        /// writing, which the kernel grants to every process otherwise (proc_pid_comm(5)).
        static var isInForce: Bool {
            let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard descriptor < 0 else {
                close(descriptor)
                return false
            }
            return errno == EACCES
        }

        /// A file in memory, which exec(2) closes unless told otherwise; -1 and `errno` when there is none.
        static func makeMemory() -> Int32 { ferry_memfd("ferry-confinement") }
    }
#endif
