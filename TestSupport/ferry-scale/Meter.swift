import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The resource usage of this process.
enum Meter {
    /// The processor time of all threads, user and system, in seconds.
    static var cpuSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The resident memory in bytes; 0 on systems without `/proc`.
    static var residentBytes: Int { kilobytes("VmRSS:") * 1024 }

    /// Makes the allocator return free memory to the system, if supported (glibc).
    ///
    /// Afterwards, all resident memory is in use. Before, it includes memory that was needed only temporarily.
    static func giveBack() {
        typealias Trim = @convention(c) (Int) -> CInt
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    /// The peak resident memory in bytes; 0 on systems without `/proc`.
    static var peakBytes: Int { kilobytes("VmHWM:") * 1024 }

    private static func kilobytes(_ name: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// Seconds since an arbitrary start.
    static var now: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Prints the result of a command as one line of JSON.
func report(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    FileHandle.standardOutput.write(try encoder.encode(value) + Data("\n".utf8))
}
