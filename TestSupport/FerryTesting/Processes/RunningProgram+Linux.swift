#if os(Linux)
    import Ferry

    extension RunningProgram {
        static func spawn(
            _ words: [String], environment: [String: String], directory: String?, streams: [Int32?]
        ) throws(StartFailure) -> Int32 {
            var spawning = Spawning(words, environment: environment)
            spawning.directory = directory
            (spawning.input, spawning.output, spawning.error) = (streams[0], streams[1], streams[2])
            do throws(Spawning.Failure) {
                return try spawning.start()
            } catch {
                throw StartFailure(program: words.first ?? "", code: error.code)
            }
        }
    }
#endif
