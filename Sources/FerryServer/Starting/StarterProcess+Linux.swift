#if os(Linux)
    import CFerry
    import Ferry
    import FerryCore
    import FoundationEssentials

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension StarterProcess {
        /// Starts the process. Returns the daemon's end of the socket, which is close-on-exec.
        static func start(_ program: String) throws(DownloadError) -> (socket: Int32, process: Int32) {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, ferry_SOCK_STREAM | ferry_SOCK_CLOEXEC, 0, &ends) == 0 else {
                throw failure(errno)
            }
            // Moves the descriptor away from the number that the child uses.
            let theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
            let code = errno
            close(ends[1])
            guard theirs >= 0 else {
                close(ends[0])
                throw failure(code)
            }
            defer { close(theirs) }
            var spawning = Spawning(
                [program, command], environment: ChildEnvironment.command(from: ProcessInfo.processInfo.environment))
            spawning.directory = "/"
            spawning.ready = theirs
            spawning.startsSession = true
            do throws(Spawning.Failure) { return (ends[0], try spawning.start()) } catch {
                close(ends[0])
                throw failure(error.code)
            }
        }
    }
#endif
