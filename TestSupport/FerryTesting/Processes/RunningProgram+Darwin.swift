#if canImport(Darwin)
    import Darwin

    extension RunningProgram {
        static func spawn(
            _ words: [String], environment: [String: String], directory: String?, streams: [Int32?]
        ) throws(StartFailure) -> Int32 {
            #if os(macOS)
                var files: posix_spawn_file_actions_t?
                posix_spawn_file_actions_init(&files)
                defer { posix_spawn_file_actions_destroy(&files) }
                for (number, descriptor) in streams.enumerated() {
                    if let descriptor {
                        posix_spawn_file_actions_adddup2(&files, descriptor, Int32(number))
                    } else {
                        posix_spawn_file_actions_addopen(
                            &files, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
                    }
                }
                if let directory { posix_spawn_file_actions_addchdir_np(&files, directory) }
                var attributes: posix_spawnattr_t?
                posix_spawnattr_init(&attributes)
                defer { posix_spawnattr_destroy(&attributes) }
                posix_spawnattr_setpgroup(&attributes, 0)
                posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT))
                var arguments = words.map { strdup($0) } + [nil]
                var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
                defer { for word in arguments + variables { free(word) } }
                var process: pid_t = 0
                let program = words.first ?? ""
                let code = posix_spawnp(&process, program, &files, &attributes, &arguments, &variables)
                guard code == 0 else { throw StartFailure(program: program, code: code) }
                return process
            #else
                throw StartFailure(program: words.first ?? "", code: ENOTSUP)
            #endif
        }
    }
#endif
