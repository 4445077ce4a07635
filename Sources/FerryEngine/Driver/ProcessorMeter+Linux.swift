#if canImport(Glibc)
    import Glibc

    extension ProcessorMeter.ThreadTime {
        /// Returns the times of all threads by thread number, from `/proc/self/task/*/schedstat`; empty if procfs is not
        /// mounted, or if there are too many threads.
        static func all() -> [Int: Self] {
            var times: [Int: Self] = [:]
            guard let directory = opendir("/proc/self/task") else { return [:] }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard let thread = Int(name), let time = time(of: name) else { continue }
                times[thread] = time
                if times.count > ProcessorMeter.mostThreads { return [:] }
            }
            return times
        }

        private static func time(of thread: String) -> Self? {
            let file = open("/proc/self/task/\(thread)/schedstat", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 96)
            let count = read(file, &bytes, bytes.count)
            guard count > 0 else { return nil }
            let numbers = bytes[..<count].split { $0 < UInt8(ascii: "0") }.prefix(2).compactMap {
                UInt64(String(decoding: $0, as: UTF8.self))
            }
            return numbers.count == 2 ? Self(ran: numbers[0], waited: numbers[1]) : nil
        }
    }
#endif
