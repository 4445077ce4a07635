package import FerryCore
import FerryEngine
package import SystemPackage

/// All of a model's disk at one step, as a value: the files, what the disk has of them, and the boot.
package struct DiskImage: Sendable {
    /// How names survive a power cut.
    package enum NameLoss: Sendable, CaseIterable {
        /// Up to some step all, after it none: what a file system with a journal of its own does.
        case inOrder
        /// Each by itself.
        case anyOrder
    }

    static let root: UInt64 = 2
    static let device: UInt64 = 0xFE44
    /// The user that everything is made by.
    static let owner: UInt32 = 1000

    var inodes: [UInt64: ModelInode] = [:]
    var directories: [UInt64: ModelDirectory] = [:]
    /// Counts starts of the system.
    package internal(set) var boot = 1
    /// Counts what was done to the disk.
    var tag = 0
    /// In bytes.
    package var capacity: ByteCount = 1 << 30

    /// A disk with these directories, absolute paths, those above first.
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

    /// The number of what a path leads to; `nil` when there is nothing.
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

    /// The names that lead to an absolute path. `FilePath.components` checks itself at each step in a debug build, which took a
    /// fifth of the model's time.
    private static func names(of path: FilePath) -> [String] {
        path.string.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The directory of a path and the name in it; `nil` for the root, and when the directory is not there.
    func place(_ path: FilePath) -> (parent: UInt64, name: String)? {
        let names = Self.names(of: path)
        guard let name = names.last, let parent = find(names.dropLast()), directories[parent] != nil else { return nil }
        return (parent, name)
    }

    /// Every path of a file, sorted.
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

    // MARK: Numbers

    /// Takes a file in under the lowest number that is free: so numbers are used anew at once, as real ones are.
    mutating func add(_ inode: ModelInode, inUse: Set<UInt64>) -> UInt64 {
        var number = Self.root + 1
        while inodes[number] != nil || inUse.contains(number) { number += 1 }
        inodes[number] = inode
        return number
    }

    /// Lets go of files that nobody has open, and that no name leads to, nor could after a power cut; gives their numbers.
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

    // MARK: Ends

    /// The disk after a power cut at this step; the seed decides what of the unsynced is there.
    package func powerCut(seed: UInt64, names: NameLoss = .inOrder) -> DiskImage {
        var random = SeededGenerator(seed: seed)
        var found = self
        found.boot += 1
        let last = Int.random(in: 0...max(1, tag), using: &random)
        // Half of them near the end, where the steps are that matter.
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

    /// The disk after every process was killed: what was written is there, what was open is closed.
    package func crash() -> DiskImage {
        var found = self
        _ = found.collect(inUse: [])
        return found
    }
}
