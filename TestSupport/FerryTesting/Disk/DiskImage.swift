package import FerryCore
import FerryEngine
package import SystemPackage

/// The complete state of a model disk at one step, as a value: visible files, durable files, and the boot.
package struct DiskImage: Sendable {
    /// How directory changes survive a power cut.
    package enum NameLoss: Sendable, CaseIterable {
        /// All changes up to some step survive and none after it, as on a journaling file system.
        case inOrder
        /// Each change survives or not, independently.
        case anyOrder
    }

    static let root: UInt64 = 2
    static let device: UInt64 = 0xFE44
    /// The owner of new files.
    static let owner: UInt32 = 1000

    var inodes: [UInt64: ModelInode] = [:]
    var directories: [UInt64: ModelDirectory] = [:]
    /// The number of system starts.
    package internal(set) var boot = 1
    /// The number of changes to the disk.
    var tag = 0
    /// The size of the disk in bytes.
    package var capacity: ByteCount = 1 << 30

    /// Creates a disk with these directories: absolute paths, parents first.
    package init(directories paths: [FilePath] = ["/d"]) {
        inodes[Self.root] = ModelInode(isDirectory: true, mode: 0o755, modified: FileTime(seconds: 0))
        directories[Self.root] = ModelDirectory()
        for path in paths {
            guard let (parent, name) = place(path) else { continue }
            let inode = add(ModelInode(isDirectory: true, mode: 0o755, modified: FileTime(seconds: 0)), inUse: [])
            directories[inode] = ModelDirectory()
            directories[parent]?.make(.link(name, inode), tag: 0)
            directories[parent]?.settle()
        }
    }

    package var bootID: String { "boot-\(boot)" }

    var usedBytes: ByteCount {
        ByteCount(inodes.values.reduce(0) { $0 + $1.allocatedBlocks } * ModelInode.blockSize)
    }

    // MARK: Names

    /// Returns the inode number of a path; `nil` if the path does not exist.
    func find(_ path: FilePath) -> UInt64? {
        find(Self.names(of: path)[...])
    }

    private func find(_ names: ArraySlice<String>) -> UInt64? {
        var inode = Self.root
        for name in names {
            guard let next = directories[inode]?.names[name] else { return nil }
            inode = next
        }
        return inode
    }

    /// Splits an absolute path into names. `FilePath.components` validates each step in debug builds, which took a
    /// fifth of the model's time.
    private static func names(of path: FilePath) -> [String] {
        path.string.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Returns the parent directory and the last component of a path; `nil` for the root, or if the parent does not
    /// exist.
    func place(_ path: FilePath) -> (parent: UInt64, name: String)? {
        let names = Self.names(of: path)
        guard let name = names.last, let parent = find(names.dropLast()), directories[parent] != nil else { return nil }
        return (parent, name)
    }

    /// The paths of all files, sorted.
    package var files: [FilePath] {
        directories.flatMap { directory, entries -> [FilePath] in
            guard let above = path(of: directory) else { return [] }
            return entries.names.filter { inodes[$0.value]?.isDirectory == false }.map { above.appending($0.key) }
        }.sorted { $0.string < $1.string }
    }

    private func path(of directory: UInt64) -> FilePath? {
        if directory == Self.root { return "/" }
        for (parent, entries) in directories {
            guard let name = entries.names.first(where: { $0.value == directory })?.key else { continue }
            return path(of: parent)?.appending(name)
        }
        return nil
    }

    func linkCount(of inode: UInt64) -> Int {
        directories.values.reduce(0) { $0 + $1.names.values.count { $0 == inode } }
    }

    // MARK: Inodes

    /// Adds a file under the lowest free inode number, so that numbers are reused at once, as on real file systems.
    mutating func add(_ inode: ModelInode, inUse: Set<UInt64>) -> UInt64 {
        var number = Self.root + 1
        while inodes[number] != nil || inUse.contains(number) { number += 1 }
        inodes[number] = inode
        return number
    }

    /// Removes files that are not open and that no name refers to, now or after a power cut. Returns their inode
    /// numbers.
    mutating func collect(inUse: Set<UInt64>) -> [UInt64] {
        let gone = inodes.keys.filter { number in
            number != Self.root && !inUse.contains(number) && !directories.values.contains { $0.mentions(number) }
        }
        for number in gone {
            inodes[number] = nil
            directories[number] = nil
        }
        return gone
    }

    // MARK: Crashes

    /// Returns the disk after a power cut at this step. The seed decides which unsynced changes survive.
    package func powerCut(seed: UInt64, names: NameLoss = .inOrder) -> DiskImage {
        var random = SeededGenerator(seed: seed)
        var found = self
        found.boot += 1
        let last = Int.random(in: 0...max(1, tag), using: &random)
        // Half of the cuts are near the end, where the critical steps are.
        let cutoff = Bool.random(using: &random) ? last : max(0, tag - last % 8)
        for number in directories.keys.sorted() {
            guard let directory = directories[number] else { continue }
            var kept: [Int: Bool] = [:]
            for (tag, _) in directory.changes {
                kept[tag] = names == .inOrder ? tag <= cutoff : Bool.random(using: &random)
            }
            found.directories[number] = directory.survivor { kept[$0] == true }
        }
        let luck: ModelInode.Luck =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .none
            case 1: .all
            default: .mixed
            }
        for number in inodes.keys.sorted() where inodes[number]?.isDirectory == false {
            found.inodes[number] = inodes[number]?.survivor(luck, using: &random)
        }
        _ = found.collect(inUse: [])
        return found
    }

    /// Returns the disk after all processes were killed: written data survives, open files are closed.
    package func crash() -> DiskImage {
        var found = self
        _ = found.collect(inUse: [])
        return found
    }
}
