import FerryTesting
import Foundation

/// A small file system to fill, if the system permits mounting one.
final class SoakDisk: Sendable {
    let path: String
    private var filler: String { path + "/filler" }

    private static let size = 300 << 20
    /// Leaves 6 MiB, of which 1 % of the disk stays free: too little for a download of 5 MB.
    private static let fill: Int64 = 294 << 20

    /// `nil` where none can be mounted.
    init?(at path: String) {
        self.path = path
        guard geteuid() == 0,
            (try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)) != nil,
            Self.run(["mount", "-t", "tmpfs", "-o", "size=\(Self.size)", "ferry-soak", path])
        else { return nil }
    }

    deinit { _ = Self.run(["umount", "-l", path]) }

    /// Fills the disk, so that no download has space.
    func makeFull() throws {
        guard Self.run(["fallocate", "-l", "\(Self.fill)", filler]) else { throw CocoaError(.fileWriteUnknown) }
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }

    private static func run(_ words: [String]) -> Bool {
        guard let result = try? RunningProgram.run(words) else { return false }
        return result.end == .exited(0)
    }
}
