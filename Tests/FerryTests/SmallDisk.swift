import FerryTesting
import Foundation

/// A file system of 2 MB in memory at a directory, until it is unmounted.
struct SmallDisk {
    let path: String
    private var filler: String { path + "/filler" }

    /// Whether this process may mount file systems.
    static let isPossible = RunningProgram.succeeds([
        "unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "ferry-test", "/mnt",
    ])

    /// Calls `body` with a disk that is mounted at `path`, and unmounts it.
    static func with(_ path: String, _ body: (SmallDisk) async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard RunningProgram.succeeds(["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "ferry-test", path]) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(SmallDisk(path: path))) } catch { result = .failure(error) }
        _ = RunningProgram.succeeds(["umount", "-l", path])
        try result.get()
    }

    /// Writes until no byte fits.
    func fill() throws {
        try Data().write(to: URL(filePath: filler))
        let file = try FileHandle(forWritingTo: URL(filePath: filler))
        defer { try? file.close() }
        while (try? file.write(contentsOf: Data(count: 4096))) != nil {}
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }
}
