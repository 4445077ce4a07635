import FerryTesting
import Foundation

/// A vfat image that is mounted: a file system that gives all files one owner and one mode.
///
/// Mounted by the kernel if it supports vfat, else by the program fusefat.
struct VFATDisk: Sendable {
    let path: String

    /// Whether this process may mount one, and how.
    static let isPossible: Bool = {
        guard geteuid() == 0, let place = try? Workplace(), let disk = try? VFATDisk(in: place) else { return false }
        disk.unmount()
        return true
    }()

    struct Failure: Error {}

    /// Makes an image and mounts it as `disk`.
    init(in place: Workplace) throws {
        path = place.path("disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let image = place.path("image")
        try Self.image().write(to: URL(filePath: image))
        let byKernel = ["mount", "-t", "vfat", "-o", "loop,uid=12345,gid=12345,umask=000", image, path]
        let byProgram = ["fusefat", "-o", "rw+", "-o", "allow_other", image, path]
        guard RunningProgram.succeeds(byKernel) || RunningProgram.succeeds(byProgram) else { throw Failure() }
    }

    func unmount() { _ = RunningProgram.succeeds(["umount", path]) }

    /// FAT16: 8 MiB in sectors of 512 bytes, clusters of 2 KiB, two tables, 512 names in the root.
    private static func image() -> Data {
        var image = Data(count: 16_384 * 512)
        func put(_ bytes: [UInt8], at offset: Int) { image.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        put([0xEB, 0x3C, 0x90] + Array("MSDOS5.0".utf8), at: 0)
        put([0x00, 0x02, 4, 1, 0, 2, 0x00, 0x02, 0x00, 0x40, 0xF8, 16, 0, 32, 0, 64, 0], at: 11)
        put([0x80, 0, 0x29, 0x12, 0x34, 0x56, 0x78] + Array("FERRY      FAT16   ".utf8), at: 36)
        put([0x55, 0xAA], at: 510)
        for table in [1, 17] { put([0xF8, 0xFF, 0xFF, 0xFF], at: table * 512) }
        return image
    }
}
