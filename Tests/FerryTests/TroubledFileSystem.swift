import FerryCore
import SystemPackage

@testable import FerryEngine

/// The local file system, with somebody who looks at every call before it is made and may refuse it.
final class TroubledFileSystem: FileSystem {
    typealias Look = @Sendable (FileError.Operation, FilePath) -> FileError.Kind?
    private let local = LocalFileSystem()
    private let look: Look

    init(_ look: @escaping Look) { self.look = look }

    func step(_ operation: FileError.Operation, _ path: FilePath) throws(FileError) {
        if let kind = look(operation, path) { throw FileError(operation, path, kind: kind) }
    }

    func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        try step(.open, path)
        return TroubledFile(try local.open(path, access), self)
    }
    func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File {
        try step(.create, path)
        return TroubledFile(try local.create(path, mode: mode), self)
    }
    func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File {
        try step(.create, directory)
        return TroubledFile(try local.openUnnamed(in: directory, mode: mode), self)
    }
    func link(_ file: any File, to path: FilePath) throws(FileError) {
        try step(.link, path)
        try local.link((file as? TroubledFile)?.file ?? file, to: path)
    }
    func link(_ from: FilePath, to path: FilePath) throws(FileError) {
        try step(.link, path)
        try local.link(from, to: path)
    }
    func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        try step(.rename, path)
        try local.rename(from, to: path, replacing: replacing)
    }
    func unlink(_ path: FilePath) throws(FileError) {
        try step(.remove, path)
        try local.unlink(path)
    }
    func makeDirectory(_ path: FilePath) throws(FileError) { try local.makeDirectory(path) }
    func syncDirectory(_ path: FilePath) throws(FileError) { try local.syncDirectory(path) }
    func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus {
        try local.status(path, followingLinks: followingLinks)
    }
    func list(_ directory: FilePath) throws(FileError) -> [String] { try local.list(directory) }
    func freeBytes(at path: FilePath) throws(FileError) -> ByteCount {
        try step(.measureSpace, path)
        return try local.freeBytes(at: path)
    }
    func attribute(_ name: String, at path: FilePath) throws(FileError) -> [UInt8]? {
        try local.attribute(name, at: path)
    }
    func isWritable(_ directory: FilePath) -> Bool { local.isWritable(directory) }
    var bootID: String? { local.bootID }
    var creationMask: UInt16 { local.creationMask }
}

/// A file of that file system.
private final class TroubledFile: File {
    let file: any File
    private let system: TroubledFileSystem

    init(_ file: any File, _ system: TroubledFileSystem) {
        self.file = file
        self.system = system
    }

    var path: FilePath { file.path }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        try system.step(.write, path)
        try file.write(bytes, at: offset)
    }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int {
        try system.step(.read, path)
        return try file.read(into: buffer, at: offset)
    }
    func dataSync() throws(FileError) {
        try system.step(.sync, path)
        try file.dataSync()
    }
    func sync() throws(FileError) {
        try system.step(.sync, path)
        try file.sync()
    }
    func truncate(to length: ByteCount) throws(FileError) { try file.truncate(to: length) }
    func allocate(length: ByteCount) throws(FileError) -> Bool {
        try system.step(.allocate, path)
        return try file.allocate(length: length)
    }
    func tryLock() throws(FileError) -> Bool { try file.tryLock() }
    func status() throws(FileError) -> FileStatus { try file.status() }
    func setMode(_ mode: UInt16) throws(FileError) { try file.setMode(mode) }
    func setModificationTime(_ time: FileTime) throws(FileError) { try file.setModificationTime(time) }
    func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError) { try file.setAttribute(name, value) }
    func attribute(_ name: String) throws(FileError) -> [UInt8]? { try file.attribute(name) }
    func close() { file.close() }
}
