import Foundation

/// The resources of a process, and the bands within which they may differ.
struct SoakUsage: Sendable, Hashable {
    var descriptors = 0
    var threads = 0
    /// Child processes, including ended ones that have not been waited for.
    var children = 0
    /// Resident memory, in bytes.
    var memory: Int64 = 0

    /// Reads proc(5); `nil` if the process has ended.
    init?(of process: Int32) {
        let root = "/proc/\(process)"
        guard let status = try? String(contentsOfFile: root + "/status", encoding: .utf8),
            let open = try? FileManager.default.contentsOfDirectory(atPath: root + "/fd")
        else { return nil }
        func number(_ name: String) -> Int64 {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line.flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Int64($0) }
                ?? 0
        }
        descriptors = open.count
        threads = Int(number("Threads"))
        memory = number("VmRSS") * 1024
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: root + "/task")) ?? []
        for task in tasks {
            let list = (try? String(contentsOfFile: "\(root)/task/\(task)/children", encoding: .utf8)) ?? ""
            children += list.split(separator: " ").count
        }
    }

    /// The bytes that the files below a directory take on the disk.
    static func bytes(below directory: String) -> Int64 {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        return paths.reduce(0) { sum, path in
            var status = stat()
            guard lstat(directory + "/" + path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
            return sum + Int64(status.st_blocks) * 512
        }
    }

    /// Threads of pools that grow with the concurrent work, and never beyond it.
    static let threadBand = 8
    /// More memory than after the warm-up by this much is a leak: twice the bytes that `EventRing.Limits` allows for
    /// events, of which there are few after a warm-up.
    static let band: Int64 = 64 << 20
    /// The state of the daemon may take more of the disk by this much: what the cache of the gateway keeps, which may have
    /// been empty, and the catalogue with its log.
    static let diskBand: Int64 = SoakCached.cacheSize + (16 << 20)
}
