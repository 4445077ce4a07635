package import FerryCore
import Synchronization
package import SystemPackage

/// The crash-safe record of one download: the identity of its file, and the ranges that are on the disk.
///
///     write:  into the slot that does not contain the newest record; dataSync
///     grow:   the whole journal under another name; sync; rename over; sync the directory
///
/// Invariants: the newest record that was written without an error is never overwritten in place; a record counts
/// only if complete. After a crash at any point, the journal contains the last acknowledged record, or the one that was being
/// written. The file is locked for the lifetime of this object.
package final class Journal: Sendable {
    package let path: FilePath
    private let fileSystem: any FileSystem
    private let syncs: Bool
    private let state: Mutex<State>

    private struct State {
        var file: any File
        /// The sequence number of the newest record.
        var sequence: UInt64
        var slotBytes: Int
        /// The number of bytes used in each slot; the rest is filled with line feeds for readability.
        var used: [Int]
        /// Whether a write or sync failed: the content of that slot is unknown, and only the other one is good, so the next
        /// record is written to a new file.
        var isDoubtful = false
        var isClosed = false
    }

    private init(path: FilePath, fileSystem: any FileSystem, syncs: Bool, state: State) {
        self.path = path
        self.fileSystem = fileSystem
        self.syncs = syncs
        self.state = Mutex(state)
    }

    /// Creates a journal with its first record, atomically; never replaces.
    ///
    /// If syncing the directory fails, this throws although the complete journal exists.
    package static func create(
        at path: FilePath, record: JournalRecord, fileSystem: any FileSystem, syncs: Bool
    ) throws(JournalError) -> Journal {
        let payload = try JournalText.bytes(record, path: path)
        let writer = JournalWriter(path: path, fileSystem: fileSystem, syncs: syncs)
        let written = try writer.write(payload, sequence: 1, replacing: false)
        if let failure = written.failure {
            written.file.close()
            throw .file(failure)
        }
        return Journal(
            path: path, fileSystem: fileSystem, syncs: syncs,
            state: State(
                file: written.file, sequence: 1, slotBytes: written.slotBytes,
                used: [written.slotBytes, written.slotBytes]))
    }

    /// Opens and locks a journal that passes the ownership check, and returns its newest complete record.
    package static func open(
        at path: FilePath, fileSystem: any FileSystem, syncs: Bool
    ) throws(JournalError) -> (journal: Journal, record: JournalRecord) {
        let file = try openLocked(at: path, fileSystem: fileSystem)
        do throws(JournalError) {
            let image = try JournalImage(file, path: path)
            let slotBytes = image.slot.slotBytes
            let journal = Journal(
                path: path, fileSystem: fileSystem, syncs: syncs,
                state: State(
                    file: file, sequence: image.slot.sequence, slotBytes: slotBytes, used: [slotBytes, slotBytes]))
            return (journal, image.record)
        } catch {
            file.close()
            throw error
        }
    }

    /// Reads the newest complete record of a journal that passes the ownership check, without acquiring the lock, so a newer
    /// record may be written at the same time.
    package static func read(at path: FilePath, fileSystem: any FileSystem) throws(JournalError) -> JournalRecord {
        let file: any File
        do throws(FileError) { file = try fileSystem.openOurs(path, .readOnly) } catch { throw opening(path, error) }
        defer { file.close() }
        return try JournalImage(file, path: path).record
    }

    /// Returns whether another process, or another download of this one, has locked the journal; `false` if that cannot be
    /// determined. Blocks.
    package static func isLocked(at path: FilePath, fileSystem: any FileSystem) -> Bool {
        do throws(JournalError) {
            try openLocked(at: path, fileSystem: fileSystem).close()
            return false
        } catch {
            return error == .locked(path)
        }
    }

    /// Converts an error of opening the file. Other users can give any file the journal's name.
    private static func opening(_ path: FilePath, _ error: FileError) -> JournalError {
        switch error.kind {
        case .notFound: .missing(path)
        case .notOurs(.notRegular): .foreign(path)
        default: .file(error)
        }
    }

    /// Opens and locks the file, which another process may replace meanwhile, because a journal that grows is replaced.
    private static func openLocked(at path: FilePath, fileSystem: any FileSystem) throws(JournalError) -> any File {
        let locked: LockedFile?
        do throws(FileError) {
            locked = try fileSystem.lockNamed(path) { () throws(FileError) in
                try fileSystem.openOurs(path, .readWrite)
            }
        } catch {
            if error.operation == .lock, error.kind == .exists { throw .locked(path) }
            throw opening(path, error)
        }
        // A file system that cannot lock the journal cannot lock the part file either, so proceed.
        guard let locked else { throw .locked(path) }
        return locked.file
    }

    /// The sequence number of the newest record.
    package var sequence: UInt64 { state.withLock { $0.sequence } }

    /// Writes a record, which is durable when this returns (unless `syncs` is off).
    ///
    /// If it throws, the previous record remains valid, and the next one is written to a new file.
    package func write(_ record: JournalRecord) throws(JournalError) {
        let payload = try JournalText.bytes(record, path: path)
        try withState { (state: inout State) throws(JournalError) in try put(payload, &state) }
    }

    /// Writes a record to both slots, so that no older one becomes valid even if this one is damaged later.
    ///
    /// For retracting claims: after ``write(_:)`` the other slot still contains them.
    package func retract(_ record: JournalRecord) throws(JournalError) {
        let payload = try JournalText.bytes(record, path: path)
        try withState { (state: inout State) throws(JournalError) in
            try put(payload, &state)
            try put(payload, &state)
        }
    }

    /// Returns whether the path still leads to this file; otherwise later runs cannot find its records.
    package func isIntact() throws(FileError) -> Bool { try fileSystem.isNamed(path, state.withLock { $0.file }) }

    /// Closes the file, which releases the lock; idempotent.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.file.close()
        }
    }

    /// Removes the journal if the path still leads to it, and closes it; syncs the directory if `syncs`.
    package func remove(syncs: Bool = false) throws(JournalError) {
        defer { close() }
        do throws(FileError) {
            guard try isIntact() else { return }
            // allow(ours): the path leads to the journal that is open.
            try fileSystem.unlink(path)
            if syncs { try fileSystem.syncDirectoryIfSupported(path.parent) }
        } catch {
            throw .file(error)
        }
    }

    private func withState(_ body: (inout State) throws(JournalError) -> Void) throws(JournalError) {
        let result: Result<Void, JournalError> = state.withLock { state in
            do throws(JournalError) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        try result.get()
    }

    private func put(_ payload: [UInt8], _ state: inout State) throws(JournalError) {
        guard !state.isClosed else { throw .file(FileError(.write, path, kind: .closed)) }
        let fits = payload.count + JournalSlot.maxHeaderBytes < state.slotBytes
        guard fits, !state.isDoubtful, state.sequence < .max else { return try rewrite(payload, &state) }
        let next = state.sequence + 1
        let index = JournalSlot.index(of: next)
        let slot = JournalSlot(
            version: JournalRecord.currentVersion, sequence: next, slotBytes: state.slotBytes, payload: payload)
        var bytes = slot.encode()
        let end = bytes.count
        if end < state.used[index] {
            // An array instead of a repeating collection, which `+=` would append element by element without specialization.
            bytes += [UInt8](repeating: JournalWriter.blank, count: state.used[index] - end)
        }
        do throws(FileError) {
            try state.file.write(bytes, at: ByteCount(index * state.slotBytes))
            if syncs { try state.file.dataSync() }
        } catch {
            state.isDoubtful = true
            throw .file(error)
        }
        state.used[index] = end
        state.sequence = next
    }

    /// Writes the record to a new file that replaces this one.
    private func rewrite(_ payload: [UInt8], _ state: inout State) throws(JournalError) {
        let writer = JournalWriter(path: path, fileSystem: fileSystem, syncs: syncs)
        // After the largest number the sequence starts again, which is safe in a new file without older records.
        let next = state.sequence < .max ? state.sequence + 1 : 1
        let written: JournalWriter.Written
        do throws(JournalError) {
            let isNamed: Bool
            do throws(FileError) { isNamed = try fileSystem.isNamed(path, state.file) } catch { throw .file(error) }
            // A file that another process put there must not be replaced.
            guard isNamed else { throw .missing(path) }
            written = try writer.write(payload, sequence: next, replacing: true)
        } catch {
            state.isDoubtful = true
            throw error
        }
        state.file.close()
        state = State(
            file: written.file, sequence: next, slotBytes: written.slotBytes,
            used: [written.slotBytes, written.slotBytes])
        if let failure = written.failure {
            // The new file is in place, but the rename may not survive a power failure, which would restore the old
            // record.
            state.isDoubtful = true
            throw .file(failure)
        }
    }
}
