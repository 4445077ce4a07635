import FerryCore
package import FerryEngine
import Synchronization
package import SystemPackage

/// A file system that injects faults: it counts and logs calls, lets a test inspect each call before it is made, and
/// makes some calls fail.
package final class FaultyFileSystem: FileSystem {
    /// Inspects a call before it is made. A returned kind makes the call fail.
    package typealias Look = @Sendable (FileError.Operation, FilePath) -> FileError.Kind?

    /// Returns the disk space; `nil` for the space that the base reports.
    package typealias Measure = @Sendable () -> FileSystemSpace?

    /// Called at the beginning of every call, on its thread.
    package typealias Enter = @Sendable () -> Void

    package enum Fault: Sendable {
        case none
        /// The call with this number, counted from 0, fails; later ones work.
        case once(Int)
        /// This call and all later ones fail without effect, as if the process had been killed before it.
        case fromThen(Int)
    }

    /// The error of a failing call.
    package enum Failure: Sendable {
        case kind(FileError.Kind)
        /// The error that the system would report.
        case errno(Int32)
    }

    let fault: Fault
    private let failure: Failure
    /// Operations that this file system does not support.
    let missing: Set<Missing>
    /// Paths below this directory are on another device.
    private let mount: FilePath?
    /// Whether both sides of the mount are the same device, although renames between them are refused, as for a bind mount.
    private let isBound: Bool
    /// The owner that all files report, as on vfat; `nil` for each file's own.
    private let owner: UInt32?
    /// Returns the disk space; `nil` for the space that the base reports.
    private let measured: Measure
    private let base: any FileSystem
    private let look: Look
    let enter: Enter
    private let tally: Tally

    package enum Missing: Sendable {
        case unnamed, renameWithoutReplacing, link, attributes, locks, directorySync, allocation
        /// New files cannot be created with the sticky bit, but it can be set later, as on Apple's systems.
        case stickyAtCreation
        /// Only directories have the sticky bit.
        case sticky
    }

    private struct State {
        var count = 0
        var log: [String] = []
        var roles: [String] = []
    }

    /// Shared with the confined file systems derived from this one.
    private final class Tally: Sendable {
        let state = Mutex(State())
    }

    /// - Parameters:
    ///   - fault: The calls that fail.
    ///   - failure: The error of failing calls.
    ///   - missing: The operations that are not supported.
    ///   - mount: The directory below which paths are on another device. With `isBound` they are on the same device,
    ///     and only renames between the two are refused.
    ///   - owner: The owner that all files report, as on vfat.
    ///   - measured: Returns the disk space.
    ///   - base: The file system that performs the operations.
    ///   - enter: Called at the beginning of every call, on its thread, including calls that cannot fail.
    ///   - look: Inspects each call first.
    package init(
        _ fault: Fault, failure: Failure = .kind(.io), missing: Set<Missing> = [], mount: FilePath? = nil,
        isBound: Bool = false, owner: UInt32? = nil, measured: @escaping Measure = { nil },
        over base: any FileSystem = LocalFileSystem(), enter: @escaping Enter = {},
        look: @escaping Look = { _, _ in nil }
    ) {
        self.fault = fault
        self.failure = failure
        self.missing = missing
        self.mount = mount
        self.isBound = isBound
        self.owner = owner
        self.measured = measured
        self.base = base
        self.look = look
        self.enter = enter
        tally = Tally()
    }

    private init(_ whole: FaultyFileSystem, confinedTo roots: [FilePath]) {
        (fault, failure, missing, mount) = (whole.fault, whole.failure, whole.missing, whole.mount)
        (isBound, owner, look, enter, tally) = (whole.isBound, whole.owner, whole.look, whole.enter, whole.tally)
        measured = whole.measured
        base = whole.base.confined(to: roots)
    }

    package func confined(to roots: [FilePath]) -> any FileSystem { FaultyFileSystem(self, confinedTo: roots) }

    package convenience init(
        missing: Set<Missing> = [], mount: FilePath? = nil, isBound: Bool = false, owner: UInt32? = nil,
        over base: any FileSystem = LocalFileSystem()
    ) {
        self.init(.none, missing: missing, mount: mount, isBound: isBound, owner: owner, over: base)
    }

    /// Creates the local file system with a closure that inspects every call and may refuse it.
    package convenience init(_ look: @escaping Look) { self.init(.none, look: look) }

    package var count: Int { tally.state.withLock { $0.count } }
    package var log: [String] { tally.state.withLock { $0.log } }
    /// The roles that were assigned to files, in order: `NAME ROLE`. They do not count as calls, because they cannot fail.
    package var roles: [String] { tally.state.withLock { $0.roles } }

    func note(_ role: FileRole, of path: FilePath) {
        tally.state.withLock { $0.roles.append("\(path.lastComponent?.string ?? "") \(role.rawValue)") }
    }
    package func note(_ entry: String) { tally.state.withLock { $0.log.append(entry) } }

    func step(_ operation: FileError.Operation, _ path: FilePath, lacks: Missing? = nil) throws(FileError) {
        enter()
        let number = tally.state.withLock { state in
            state.log.append("\(operation.rawValue) \(path.lastComponent?.string ?? "")")
            state.count += 1
            return state.count - 1
        }
        if let kind = look(operation, path) { throw FileError(operation, path, kind: kind) }
        switch fault {
        case .once(let n) where n == number: throw error(operation, path)
        case .fromThen(let n) where n <= number: throw error(operation, path)
        default: break
        }
        if let lacks, missing.contains(lacks) { throw FileError(operation, path, kind: .unsupported) }
    }

    private func error(_ operation: FileError.Operation, _ path: FilePath) -> FileError {
        switch failure {
        case .kind(let kind): FileError(operation, path, kind: kind)
        case .errno(let number): FileError(operation, path, errno: number)
        }
    }

    private func isMounted(_ path: FilePath) -> Bool { mount.map { path.starts(with: $0) } ?? false }

    func mounted(_ status: FileStatus, _ path: FilePath) -> FileStatus {
        var status = status
        if isMounted(path), !isBound { status.device ^= 1 << 40 }
        if let owner { status.owner = owner }
        return status
    }

    package func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        try step(.open, path)
        return FaultyFile(try base.open(path, access), self)
    }
    package func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File {
        try step(.create, path)
        let isPlain = missing.contains(.stickyAtCreation) || missing.contains(.sticky)
        return FaultyFile(try base.create(path, mode: isPlain ? mode & ~0o1000 : mode), self)
    }
    package func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File {
        try step(.create, directory, lacks: .unnamed)
        return FaultyFile(try base.openUnnamed(in: directory, mode: mode), self)
    }
    package func link(_ file: any File, to path: FilePath) throws(FileError) {
        try step(.link, path)
        try base.link((file as? FaultyFile)?.file ?? file, to: path)
    }
    package func link(_ from: FilePath, to path: FilePath) throws(FileError) {
        try step(.link, path, lacks: .link)
        if isMounted(from) != isMounted(path) { throw FileError(.link, path, kind: .crossDevice) }
        try base.link(from, to: path)
    }
    package func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        try step(.rename, path, lacks: replacing ? nil : .renameWithoutReplacing)
        if isMounted(from) != isMounted(path) { throw FileError(.rename, path, kind: .crossDevice) }
        try base.rename(from, to: path, replacing: replacing)
    }
    package func unlink(_ path: FilePath) throws(FileError) {
        try step(.remove, path)
        try base.unlink(path)
    }
    package func makeDirectory(_ path: FilePath) throws(FileError) {
        try step(.makeDirectory, path)
        try base.makeDirectory(path)
    }
    package func removeDirectory(_ path: FilePath) throws(FileError) {
        try step(.remove, path)
        try base.removeDirectory(path)
    }
    package func syncDirectory(_ path: FilePath) throws(FileError) {
        try step(.syncDirectory, path, lacks: .directorySync)
        try base.syncDirectory(path)
    }
    package func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus {
        try step(.inspect, path)
        return mounted(try base.status(path, followingLinks: followingLinks), path)
    }
    package func list(_ directory: FilePath, _ body: (_ name: String?) -> Bool) throws(FileError) {
        try step(.list, directory)
        try base.list(directory, body)
    }
    package func space(at path: FilePath) throws(FileError) -> FileSystemSpace {
        try step(.measureSpace, path)
        return if let space = measured() { space } else { try base.space(at: path) }
    }
    package func isWritable(_ directory: FilePath) -> Bool {
        enter()
        return base.isWritable(directory)
    }
    package var bootID: String? { base.bootID }
    package var user: FileUser { base.user }
    package var creationMask: UInt16 { base.creationMask }
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
            // In the worst case, a failing write has written some of its bytes.
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
        try beforeSync()
        try file.dataSync()
    }
    func sync() throws(FileError) {
        try beforeSync()
        try file.sync()
    }
    /// A failing sync loses the unsynced data, and the next one succeeds without it.
    private func beforeSync() throws(FileError) {
        do throws(FileError) { try fileSystem.step(.sync, path) } catch {
            // A killed process has not made the system call, so its data is still unsynced.
            if case .fromThen = fileSystem.fault { throw error }
            (file as? ModelFile)?.loseUnsynced()
            throw error
        }
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
        if mode & 0o1000 != 0, fileSystem.missing.contains(.sticky) {
            throw FileError(.setMode, path, kind: .permission)
        }
        try file.setMode(mode)
    }
    func mark(as role: FileRole) {
        fileSystem.note(role, of: path)
        file.mark(as: role)
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
    func close() {
        fileSystem.enter()
        file.close()
    }
}
