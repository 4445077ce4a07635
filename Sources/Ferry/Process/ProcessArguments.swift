/// The arguments of this process, from the C library: Swift's `CommandLine` is empty if procfs is not mounted, or if a
/// preloaded library changed the environment before `main`.
package enum ProcessArguments {
    /// All arguments, the program's name first. Empty if the process was started without arguments, or if they cannot be
    /// determined.
    package static var all: [String] {
        guard let list else { return [] }
        return (0..<list.count).compactMap { list.memory[$0].map { String(cString: $0) } }
    }

    /// Overwrites bytes of arguments with asterisks, in the memory that `ps` and `/proc/PID/cmdline` show.
    ///
    /// - Parameter ranges: The byte ranges in each argument, the program's name first.
    package static func hide(_ ranges: [[Range<Int>]]) {
        guard let list else { return }
        for (index, ranges) in ranges.prefix(list.count).enumerated() where !ranges.isEmpty {
            guard let memory = list.memory[index] else { continue }
            var length = 0
            while memory[length] != 0 { length += 1 }
            for range in ranges {
                for offset in range.clamped(to: 0..<length) { memory[offset] = 0x2A }
            }
        }
    }
}
