import FerryCore
import SystemPackage

@testable import FerryEngine

/// Calls a hook once, right after the first opening or right before the first creation of a file.
final class HookedFileSystem: FileSystem {
    private let base: LocalFileSystem
    private let hook: @Sendable () throws -> Void
    private let once = Once()
    private let isBeforeCreating: Bool
    /// A directory that is not writable, even for root.
    private let readOnly: FilePath?

    init(
        _ base: LocalFileSystem, beforeCreating: Bool = false, readOnly: FilePath? = nil,
        _ hook: @escaping @Sendable () throws -> Void = {}
    ) {
        self.base = base
        self.readOnly = readOnly
        isBeforeCreating = beforeCreating
        self.hook = hook
    }

    func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        let file = try base.open(path, access)
        if !isBeforeCreating { try callHook(path) }
        return file
    }
    func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File {
        if isBeforeCreating { try callHook(path) }
        return try base.create(path, mode: mode)
    }
    private func callHook(_ path: FilePath) throws(FileError) {
        guard once.isFirst else { return }
        do { try hook() } catch { throw FileError(.open, path, kind: .io) }
    }
    func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File {
        try base.openUnnamed(in: directory, mode: mode)
    }
    func link(_ file: any File, to path: FilePath) throws(FileError) { try base.link(file, to: path) }
    func link(_ from: FilePath, to path: FilePath) throws(FileError) { try base.link(from, to: path) }
    func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        try base.rename(from, to: path, replacing: replacing)
    }
    func unlink(_ path: FilePath) throws(FileError) { try base.unlink(path) }
    func makeDirectory(_ path: FilePath) throws(FileError) { try base.makeDirectory(path) }
    func removeDirectory(_ path: FilePath) throws(FileError) { try base.removeDirectory(path) }
    func syncDirectory(_ path: FilePath) throws(FileError) { try base.syncDirectory(path) }
    func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus {
        try base.status(path, followingLinks: followingLinks)
    }
    func list(_ directory: FilePath, _ body: (_ name: String?) -> Bool) throws(FileError) {
        try base.list(directory, body)
    }
    func space(at path: FilePath) throws(FileError) -> FileSystemSpace { try base.space(at: path) }
    func isWritable(_ directory: FilePath) -> Bool { directory != readOnly && base.isWritable(directory) }
    func confined(to roots: [FilePath]) -> any FileSystem { base.confined(to: roots) }
    var bootID: String? { base.bootID }
    var user: FileUser { base.user }
    var creationMask: UInt16 { base.creationMask }
}
