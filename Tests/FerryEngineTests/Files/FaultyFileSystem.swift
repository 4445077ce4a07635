import FerryCore
import Synchronization
import SystemPackage

@testable import FerryEngine

/// The local file system with faults: it counts calls, notes them, and fails some.
final class FaultyFileSystem: FileSystem {
    enum Fault: Sendable {
        case none
        /// The call with this number, counted from 0, fails; those after it work.
        case once(Int)
        /// This call and all after it fail, and have no effect: as if the process had been killed before it.
        case fromThen(Int)
    }

    let fault: Fault
    let kind: FileError.Kind
    /// Operations that this file system does not have.
    let missing: Set<Missing>
    /// What lies below this directory is on another device.
    let mount: FilePath?
    /// It is the same device there, and yet nothing is renamed across.
    let isBound: Bool
    private let state = Mutex(State())

    enum Missing: Sendable { case unnamed, renameWithoutReplacing, link, attributes, locks, directorySync, allocation }

    private struct State {
        var count = 0
        var log: [String] = []
    }

    init(
        _ fault: Fault = .none, kind: FileError.Kind = .io, missing: Set<Missing> = [], mount: FilePath? = nil,
        isBound: Bool = false
    ) {
        self.mount = mount
        self.isBound = isBound
        self.fault = fault
        self.kind = kind
        self.missing = missing
    }

    var count: Int { state.withLock { $0.count } }
    var log: [String] { state.withLock { $0.log } }

    func note(_ entry: String) { state.withLock { $0.log.append(entry) } }

    func step(_ operation: FileError.Operation, _ path: FilePath, lacks: Missing? = nil) throws(FileError) {
        let number = state.withLock { state in
            state.log.append("\(operation.rawValue) \(path.lastComponent?.string ?? "")")
            state.count += 1
            return state.count - 1
        }
        switch fault {
        case .once(let n) where n == number: throw FileError(operation, path, kind: kind)
        case .fromThen(let n) where n <= number: throw FileError(operation, path, kind: kind)
        default: break
        }
        if let lacks, missing.contains(lacks) { throw FileError(operation, path, kind: .unsupported) }
    }

    private func isMounted(_ path: FilePath) -> Bool { mount.map { path.starts(with: $0) } ?? false }

    func mounted(_ status: FileStatus, _ path: FilePath) -> FileStatus {
        var status = status
        if isMounted(path), !isBound { status.device ^= 1 << 40 }
        return status
    }

    private let local = LocalFileSystem()

    func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        try step(.open, path)
        return FaultyFile(try local.open(path, access), self)
    }
    func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File {
        try step(.create, path)
        return FaultyFile(try local.create(path, mode: mode), self)
    }
    func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File {
        try step(.create, directory, lacks: .unnamed)
        return FaultyFile(try local.openUnnamed(in: directory, mode: mode), self)
    }
    func link(_ file: any File, to path: FilePath) throws(FileError) {
        try step(.link, path)
        try local.link((file as? FaultyFile)?.file ?? file, to: path)
    }
    func link(_ from: FilePath, to path: FilePath) throws(FileError) {
        try step(.link, path, lacks: .link)
        try local.link(from, to: path)
    }
    func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        try step(.rename, path, lacks: replacing ? nil : .renameWithoutReplacing)
        if isMounted(from) != isMounted(path) { throw FileError(.rename, path, kind: .crossDevice) }
        try local.rename(from, to: path, replacing: replacing)
    }
    func unlink(_ path: FilePath) throws(FileError) {
        try step(.remove, path)
        try local.unlink(path)
    }
    func makeDirectory(_ path: FilePath) throws(FileError) {
        try step(.makeDirectory, path)
        try local.makeDirectory(path)
    }
    func syncDirectory(_ path: FilePath) throws(FileError) {
        try step(.syncDirectory, path, lacks: .directorySync)
        try local.syncDirectory(path)
    }
    func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus {
        try step(.inspect, path)
        return mounted(try local.status(path, followingLinks: followingLinks), path)
    }
    func list(_ directory: FilePath) throws(FileError) -> [String] {
        try step(.list, directory)
        return try local.list(directory)
    }
    func freeBytes(at path: FilePath) throws(FileError) -> ByteCount {
        try step(.measureSpace, path)
        return try local.freeBytes(at: path)
    }
    func attribute(_ name: String, at path: FilePath) throws(FileError) -> [UInt8]? {
        try step(.getAttribute, path, lacks: .attributes)
        return try local.attribute(name, at: path)
    }
    func isWritable(_ directory: FilePath) -> Bool { local.isWritable(directory) }
    var bootID: String? { local.bootID }
    var creationMask: UInt16 { local.creationMask }
}

/// A file of a ``FaultyFileSystem``.
final class FaultyFile: File {
    let file: any File
    private let fileSystem: FaultyFileSystem

    init(_ file: any File, _ fileSystem: FaultyFileSystem) {
        self.file = file
        self.fileSystem = fileSystem
    }

    var path: FilePath { file.path }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        do throws(FileError) {
            try fileSystem.step(.write, path)
        } catch {
            // A write that fails has written something, in the worst case.
            if case .once = fileSystem.fault {
                try? file.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2)), at: offset)
            }
            throw error
        }
        try file.write(bytes, at: offset)
    }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int {
        try fileSystem.step(.read, path)
        return try file.read(into: buffer, at: offset)
    }
    func dataSync() throws(FileError) {
        try fileSystem.step(.sync, path)
        try file.dataSync()
    }
    func sync() throws(FileError) {
        try fileSystem.step(.sync, path)
        try file.sync()
    }
    func truncate(to length: ByteCount) throws(FileError) {
        try fileSystem.step(.truncate, path)
        try file.truncate(to: length)
    }
    func allocate(length: ByteCount) throws(FileError) -> Bool {
        try fileSystem.step(.allocate, path)
        return fileSystem.missing.contains(.allocation) ? false : try file.allocate(length: length)
    }
    func tryLock() throws(FileError) -> Bool {
        try fileSystem.step(.lock, path, lacks: .locks)
        return try file.tryLock()
    }
    func status() throws(FileError) -> FileStatus {
        try fileSystem.step(.inspect, path)
        return fileSystem.mounted(try file.status(), path)
    }
    func setMode(_ mode: UInt16) throws(FileError) {
        try fileSystem.step(.setMode, path)
        try file.setMode(mode)
    }
    func setModificationTime(_ time: FileTime) throws(FileError) {
        try fileSystem.step(.setTime, path)
        try file.setModificationTime(time)
    }
    func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError) {
        try fileSystem.step(.setAttribute, path, lacks: .attributes)
        try file.setAttribute(name, value)
    }
    func attribute(_ name: String) throws(FileError) -> [UInt8]? {
        try fileSystem.step(.getAttribute, path, lacks: .attributes)
        return try file.attribute(name)
    }
    func close() { file.close() }
}
