package import FerryCore
package import FerryEngine
import Synchronization
package import SystemPackage

/// A file system in memory that models its contents after a power cut.
///
/// Visible and durable state are separate: data becomes durable by a sync of the file, names by a sync of the
/// directory. Every step is checked against ``WritingRules`` and can be recorded (``record()``), so that a run can
/// later be cut at each one.
package final class ModelDisk: FileSystem {
    struct State {
        var image: DiskImage
        var rules: WritingRules
        /// The open file that holds the lock of each inode.
        var locks: [UInt64: ObjectIdentifier] = [:]
        /// The number of open files per inode.
        var opened: [UInt64: Int] = [:]
        var steps: [DiskStep]?
        /// The interval of recorded steps; 1 to record every step.
        var interval = 1
        var syncs = 0
        var writes = 0
        /// Called between the beginning and the end of each data sync, without the lock.
        var duringSync: (@Sendable (FilePath) -> Void)?

        var inUse: Set<UInt64> { Set(opened.keys) }
    }
    private let state: Mutex<State>
    /// Notified after each step.
    package let news = AsyncEvent()

    package init(_ image: DiskImage = DiskImage(), rules: WritingRules = WritingRules()) {
        var rules = rules
        rules.look(at: image)
        state = Mutex(State(image: image, rules: rules))
    }

    init(continuing image: DiskImage, rules: WritingRules) { state = Mutex(State(image: image, rules: rules)) }

    package var image: DiskImage { state.withLock { $0.image } }
    package var rules: WritingRules { state.withLock { $0.rules } }
    /// The violations of the writing rules.
    package var violations: [String] { state.withLock { $0.rules.violations } }
    /// The number of data syncs that have begun.
    package var syncs: Int { state.withLock { $0.syncs } }
    /// The number of writes that have returned.
    package var writes: Int { state.withLock { $0.writes } }

    /// Records every step from now on, or every `interval`-th one, beginning with the current state. A recorded step takes
    /// memory in proportion to the number of blocks.
    package func record(every interval: Int = 1) {
        state.withLock { state in
            state.interval = max(1, interval)
            state.steps = [DiskStep(name: "begin", image: state.image, rules: state.rules)]
        }
    }

    /// The steps recorded since ``record()``.
    package var steps: [DiskStep] { state.withLock { $0.steps ?? [] } }

    /// Sets a closure that runs during each data sync.
    package func duringSync(_ body: (@Sendable (FilePath) -> Void)?) { state.withLock { $0.duringSync = body } }

    /// Durably changes the owner of a file, as if another user had created it.
    package func give(_ path: FilePath, to owner: UInt32) throws(FileError) {
        try step("give \(path)") { (state, tag) throws(FileError) in
            guard let inode = state.image.find(path), var dress = state.image.inodes[inode]?.dress else {
                throw FileError(.inspect, path, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            dress.owner = owner
            state.image.inodes[inode]?.put(dress, tag: tag)
            state.image.inodes[inode]?.settle(upTo: tag, isFull: true)
        }
    }

    /// Changes the size of the disk.
    package func set(capacity: ByteCount) { state.withLock { $0.image.capacity = capacity } }

    /// Waits until the condition is true. It is checked after each step.
    package func wait(until condition: @Sendable (ModelDisk) -> Bool) async {
        while true {
            let seen = news.count
            if condition(self) || Task.isCancelled { return }
            await news.wait(after: seen)
        }
    }

    // MARK: Steps

    func look<T: Sendable>(_ body: (inout State) throws(FileError) -> T) throws(FileError) -> T {
        let result: Result<T, FileError> = state.withLock { state in
            do throws(FileError) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Performs one step that changes the disk.
    func step<T: Sendable>(
        _ name: @autoclosure () -> String, _ body: (inout State, Int) throws(FileError) -> T
    ) throws(FileError) -> T {
        defer { news.notify() }
        return try look { (state: inout State) throws(FileError) -> T in
            state.image.tag += 1
            let value = try body(&state, state.image.tag)
            for gone in state.image.collect(inUse: state.inUse) { state.rules.forget(gone) }
            state.keep(name())
            return value
        }
    }

    // MARK: Files

    package func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        let inode = try look { (state: inout State) throws(FileError) -> UInt64 in
            guard let inode = state.image.find(path) else {
                throw FileError(.open, path, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            if state.image.inodes[inode]?.isDirectory == true {
                throw FileError(.open, path, errno: Errno.isDirectory.rawValue)
            }
            state.opened[inode, default: 0] += 1
            return inode
        }
        return ModelFile(self, inode, path, mayWrite: access == .readWrite)
    }

    package func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File {
        let inode = try step("create \(path)") { (state, tag) throws(FileError) -> UInt64 in
            let (parent, name) = try state.free(path, for: .create)
            let inode = state.make(mode: mode & ~0o022, tag: tag)
            state.image.directories[parent]?.make(.link(name, inode), tag: tag)
            state.opened[inode, default: 0] += 1
            return inode
        }
        return ModelFile(self, inode, path, mayWrite: true)
    }

    package func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File {
        let inode = try step("create in \(directory)") { (state, tag) throws(FileError) -> UInt64 in
            guard state.image.find(directory) != nil else {
                throw FileError(.create, directory, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            let inode = state.make(mode: mode & ~0o022, tag: tag)
            state.opened[inode, default: 0] += 1
            return inode
        }
        return ModelFile(self, inode, directory, mayWrite: true)
    }

    func close(_ file: ModelFile) {
        state.withLock { state in
            if state.locks[file.inode] == ObjectIdentifier(file) { state.locks[file.inode] = nil }
            state.opened[file.inode, default: 1] -= 1
            if state.opened[file.inode] == 0 { state.opened[file.inode] = nil }
            for gone in state.image.collect(inUse: state.inUse) { state.rules.forget(gone) }
        }
    }

    // MARK: Properties

    /// Returns the model itself, because it has no symbolic links.
    package func confined(to roots: [FilePath]) -> any FileSystem { self }

    package func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus {
        try look { (state: inout State) throws(FileError) -> FileStatus in
            guard let inode = state.image.find(path), let status = state.status(of: inode) else {
                throw FileError(.inspect, path, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            return status
        }
    }

    package func list(_ directory: FilePath, _ body: (_ name: String?) -> Bool) throws(FileError) {
        let names = try look { (state: inout State) throws(FileError) -> [String] in
            guard let inode = state.image.find(directory) else {
                throw FileError(.list, directory, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            guard let entries = state.image.directories[inode] else {
                throw FileError(.list, directory, errno: Errno.notDirectory.rawValue)
            }
            return Array(entries.names.keys)
        }
        _ = names.allSatisfy(body)
    }

    package func space(at path: FilePath) throws(FileError) -> FileSystemSpace {
        try look { state in
            FileSystemSpace(
                freeBytes: max(0, state.image.capacity - state.image.usedBytes), totalBytes: state.image.capacity)
        }
    }

    package func isWritable(_ directory: FilePath) -> Bool { true }
    package var bootID: String? { state.withLock { $0.image.bootID } }
    package var user: FileUser { FileUser(user: DiskImage.owner, group: DiskImage.owner) }
    package var creationMask: UInt16 { 0o022 }
}

extension ModelDisk.State {
    mutating func keep(_ name: String) {
        guard image.tag % interval == 0 else { return }
        steps?.append(DiskStep(name: name, image: image, rules: rules))
    }

    mutating func make(mode: UInt16, tag: Int) -> UInt64 {
        let inode = image.add(ModelInode(mode: mode, modified: Self.time(tag)), inUse: inUse)
        rules.forget(inode)
        return inode
    }

    /// Returns the directory and name of a path that does not exist yet.
    func free(_ path: FilePath, for operation: FileError.Operation) throws(FileError) -> (UInt64, String) {
        guard let (parent, name) = image.place(path) else {
            throw FileError(operation, path, errno: Errno.noSuchFileOrDirectory.rawValue)
        }
        if image.directories[parent]?.names[name] != nil {
            throw FileError(operation, path, errno: Errno.fileExists.rawValue)
        }
        return (parent, name)
    }

    func status(of number: UInt64) -> FileStatus? {
        guard let inode = image.inodes[number] else { return nil }
        return FileStatus(
            device: DiskImage.device, inode: number, length: inode.length,
            allocatedBytes: ByteCount(inode.allocatedBlocks * ModelInode.blockSize), mode: inode.dress.mode,
            owner: inode.dress.owner, group: DiskImage.owner, modified: inode.dress.modified,
            linkCount: UInt64(image.linkCount(of: number)),
            kind: inode.isDirectory ? .directory : .regular)
    }

    /// Returns the time of a step: each step takes one second.
    static func time(_ tag: Int) -> FileTime { FileTime(seconds: 1_760_000_000 + Int64(tag)) }
}
