#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension ProcessReading {
        /// Reads the process from `/proc/self`; values that cannot be read are `nil`.
        public static func now() -> ProcessReading {
            var reading = ProcessReading()
            let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
            if let stat = text(of: "/proc/self/stat"), let boot = bootTime {
                reading.take(stat: stat, ticks: ticks, pageSize: Double(sysconf(Int32(_SC_PAGESIZE))), boot: boot)
            }
            reading.openDescriptors = descriptorCount
            var limit = rlimit()
            if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
                reading.mostDescriptors = UInt64(limit.rlim_cur)
            }
            return reading
        }

        /// Parses the fields of proc_pid_stat(5). The second field, the name of the program, may contain spaces and parentheses.
        mutating func take(stat: String, ticks: Double, pageSize: Double, boot: Double) {
            guard let end = stat.utf8.lastIndex(of: UInt8(ascii: ")")), ticks > 0 else { return }
            let fields = stat.utf8[end...].dropFirst().split(separator: UInt8(ascii: " ")).map { Double(Substring($0)) }
            // The third field has index 0 here.
            func field(_ number: Int) -> Double? { fields.indices.contains(number - 3) ? fields[number - 3] : nil }
            if let user = field(14), let system = field(15) { processorSeconds = (user + system) / ticks }
            threads = field(20).flatMap { Int(exactly: $0) }
            started = field(22).map { boot + $0 / ticks }
            virtualBytes = field(23)
            residentBytes = field(24).map { $0 * pageSize }
        }

        /// The boot time of the machine in seconds since 1970.
        private static let bootTime: Double? = {
            guard let text = text(of: "/proc/stat") else { return nil }
            let name = "btime ".utf8
            let line = text.utf8.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name) }
            return line.flatMap { Double(Substring($0.dropFirst(name.count))) }
        }()

        private static var descriptorCount: Int? {
            guard let directory = opendir("/proc/self/fd") else { return nil }
            defer { closedir(directory) }
            var count = 0
            while let entry = readdir(directory) {
                if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
            }
            // One of the descriptors is the one that reads the directory.
            return count - 1
        }

        private static func text(of path: String) -> String? {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 16 << 10)
            while bytes.count < 1 << 20 {
                let count = read(file, &piece, piece.count)
                guard count > 0 else { break }
                bytes += piece[..<count]
            }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
