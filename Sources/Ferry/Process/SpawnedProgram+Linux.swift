#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension SpawnedProgram {
        /// Starts a program in a new session with default signals, in `/`; its standard streams are `/dev/null`, and
        /// it inherits no other descriptor. With `hearsReady`, its descriptor 3 is a pipe to this process.
        package static func spawn(
            _ words: [String], environment variables: [String: String], hearsReady: Bool = false
        ) throws(Failure) -> SpawnedProgram {
            let pipe = hearsReady ? try makePipe() : (reading: -1, writing: -1)
            defer { if hearsReady { close(pipe.writing) } }
            // allow(environment): the caller has selected the variables.
            var spawning = Spawning(words, environment: variables)
            // The app's working directory would keep its disk from being unmounted.
            spawning.directory = "/"
            spawning.ready = hearsReady ? pipe.writing : nil
            spawning.startsSession = true
            do throws(Spawning.Failure) {
                return SpawnedProgram(process: try spawning.start(), ready: pipe.reading)
            } catch {
                if hearsReady { close(pipe.reading) }
                throw Failure(reason: String(cString: strerror(error.code)))
            }
        }

        private static func makePipe() throws(Failure) -> (reading: Int32, writing: Int32) {
            var ends: [Int32] = [-1, -1]
            guard ferry_pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure(reason: String(cString: strerror(errno))) }
            // Above the descriptor numbers that are used in the child.
            let high = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
            let error = errno
            close(ends[1])
            guard high >= 0 else {
                close(ends[0])
                throw Failure(reason: String(cString: strerror(error)))
            }
            return (ends[0], high)
        }
    }
#endif
