#if os(Linux)
    import FerryTesting
    import Foundation
    import Testing

    extension RunningProgramTests {
        /// Foundation's `Process` looked for the largest open descriptor, which crashed the whole test run.
        @Test("RunningProgram: with thousands of open descriptors it starts and inherits none of them")
        func descriptors() throws {
            // Not restored: other tests run at the same time.
            var limit = rlimit()
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            try #require(getrlimit(files, &limit) == 0)
            limit.rlim_cur = limit.rlim_max
            try #require(setrlimit(files, &limit) == 0)
            let count = min(5000, Int(clamping: limit.rlim_max) / 2)
            // Without O_CLOEXEC: they would be inherited.
            let open = (0..<count).map { _ in Foundation.open("/dev/null", O_RDONLY) }
            defer { for descriptor in open where descriptor >= 0 { close(descriptor) } }
            let (end, text) = try RunningProgram.run(["/bin/sh", "-c", "cd /proc/self/fd && echo *"])
            #expect(end == .exited(0))
            // The shell reads the directory through a descriptor of its own.
            #expect(text.split { $0.isWhitespace }.count <= 4, "\(text)")
        }
    }
#endif
