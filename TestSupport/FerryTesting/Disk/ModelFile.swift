import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

/// An open file of a ``ModelDisk``.
final class ModelFile: File {
    let disk: ModelDisk
    let inode: UInt64
    let path: FilePath
    private let mayWrite: Bool
    private let isClosed = Atomic(false)

    init(_ disk: ModelDisk, _ inode: UInt64, _ path: FilePath, mayWrite: Bool) {
        self.disk = disk
        self.inode = inode
        self.path = path
        self.mayWrite = mayWrite
    }

    deinit { close() }

    func close() {
        if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { disk.close(self) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        guard mayWrite else { throw FileError(.write, path, errno: Errno.badFileDescriptor.rawValue) }
        let copy = Array(bytes)
        if copy.count > 1, disk.isRecording {
            // A kill during a write leaves some of its bytes.
            try change(.write, "write half of") { (state, tag) throws(FileError) in
                try state.write(copy[..<(copy.count / 2)], to: self, at: offset, tag: tag)
            }
        }
        try change(.write, "write") { (state, tag) throws(FileError) in
            try state.write(copy[...], to: self, at: offset, tag: tag)
            state.writes += 1
            state.rules.wrote(self.inode, copy, at: offset, tag: tag, state.image)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int {
        try check(.read)
        // SAFETY: the buffer is only used while this call lasts, by the closure that it waits for.
        nonisolated(unsafe) let buffer = buffer
        return try disk.look { state in state.image.inodes[self.inode]?.read(into: buffer, at: offset) ?? 0 }
    }

    func dataSync() throws(FileError) { try sync(isFull: false) }
    func sync() throws(FileError) { try sync(isFull: true) }

    /// Makes the data written before the sync began durable. Data written during the sync may or may not be.
    private func sync(isFull: Bool) throws(FileError) {
        try check(.sync)
        let (mark, during) = try disk.look { state in
            state.syncs += 1
            return (state.image.tag, state.duringSync)
        }
        disk.news.notify()
        during?(path)
        try change(.sync, isFull ? "sync" : "datasync") { (state, _) throws(FileError) in
            state.image.inodes[self.inode]?.settle(upTo: mark, isFull: isFull)
            state.rules.synced(self.inode, upTo: mark)
        }
    }

    /// Models a failed sync: programs still see their data, but it never reaches the disk.
    func loseUnsynced() {
        try? disk.step("lose \(path)") { (state, _) throws(FileError) in
            state.image.inodes[self.inode]?.loseUnsynced()
        }
    }

    func truncate(to length: ByteCount) throws(FileError) {
        try change(.truncate, "truncate") { (state, tag) throws(FileError) in
            state.image.inodes[self.inode]?.truncate(to: length, tag: tag)
            state.rules.truncated(self.inode, to: length)
        }
    }

    func allocate(length: ByteCount) throws(FileError) -> Bool {
        guard length > 0 else { return true }
        try change(.allocate, "allocate") { (state, tag) throws(FileError) in
            let blocks = (length + ByteCount(ModelInode.blockSize) - 1) / ByteCount(ModelInode.blockSize)
            let more = blocks - ByteCount(state.image.inodes[self.inode]?.allocatedBlocks ?? 0)
            if state.image.usedBytes + more * ByteCount(ModelInode.blockSize) > state.image.capacity {
                throw FileError(.allocate, self.path, errno: Errno.noSpace.rawValue)
            }
            state.image.inodes[self.inode]?.reserve(length, tag: tag)
        }
        return true
    }

    func tryLock() throws(FileError) -> Bool {
        try check(.lock)
        return try disk.look { state in
            guard let owner = state.locks[self.inode] else {
                state.locks[self.inode] = ObjectIdentifier(self)
                return true
            }
            return owner == ObjectIdentifier(self)
        }
    }

    func status() throws(FileError) -> FileStatus {
        try check(.inspect)
        return try disk.look { (state: inout ModelDisk.State) throws(FileError) -> FileStatus in
            guard let status = state.status(of: self.inode) else { throw FileError(.inspect, self.path, kind: .closed) }
            return status
        }
    }

    func mark(as role: FileRole) {}
    func setMode(_ mode: UInt16) throws(FileError) { try dress(.setMode) { $0.mode = mode } }
    func setModificationTime(_ time: FileTime) throws(FileError) { try dress(.setTime) { $0.modified = time } }
    func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError) {
        try dress(.setAttribute) { $0.attributes[name] = value }
    }

    func attribute(_ name: String) throws(FileError) -> [UInt8]? {
        try check(.getAttribute)
        return try disk.look { state in state.image.inodes[self.inode]?.dress.attributes[name] }
    }

    private func dress(
        _ operation: FileError.Operation, _ body: (inout ModelInode.Dress) -> Void
    ) throws(FileError) {
        try change(operation, "dress") { (state, tag) throws(FileError) in
            guard var dress = state.image.inodes[self.inode]?.dress else { return }
            body(&dress)
            state.image.inodes[self.inode]?.put(dress, tag: tag)
        }
    }

    private func check(_ operation: FileError.Operation) throws(FileError) {
        if isClosed.load(ordering: .acquiring) { throw FileError(operation, path, kind: .closed) }
    }

    private func change(
        _ operation: FileError.Operation, _ name: String, _ body: (inout ModelDisk.State, Int) throws(FileError) -> Void
    ) throws(FileError) {
        try check(operation)
        try disk.step("\(name) \(path)", body)
    }
}

extension ModelDisk {
    var isRecording: Bool { (try? look { $0.steps != nil }) == true }
}

extension ModelDisk.State {
    fileprivate mutating func write(
        _ bytes: ArraySlice<UInt8>, to file: ModelFile, at offset: ByteCount, tag: Int
    ) throws(FileError) {
        guard var inode = image.inodes[file.inode] else { return }
        let blocks = (Int(offset) + bytes.count + ModelInode.blockSize - 1) / ModelInode.blockSize
        let more = ByteCount(max(0, blocks - inode.allocatedBlocks) * ModelInode.blockSize)
        if more > 0, image.usedBytes + more > image.capacity {
            throw FileError(.write, file.path, errno: Errno.noSpace.rawValue)
        }
        // Removed from the table during the change, to avoid a copy.
        image.inodes[file.inode] = nil
        bytes.withUnsafeBytes { inode.write($0, at: offset, tag: tag) }
        inode.dress.modified = Self.time(tag)
        inode.put(inode.dress, tag: tag)
        image.inodes[file.inode] = inode
    }
}
