package import FerryCore
import Synchronization
package import SystemPackage

/// The crash-safe record of one download: which file it is, and which of its ranges are on the disk.
///
///     write:  the slot that does not hold the newest record; dataSync
///     grow:   all of it anew under another name; sync; rename over; sync the directory
///
/// Invariants: the newest record that was written without an error is never overwritten in place; a record counts
/// only whole. After a crash at any point the file gives the last record that was acknowledged, or the one being
/// written. It is locked while this lives.
package final class Journal: Sendable {
    package let path: FilePath
    private let fileSystem: any FileSystem
    private let syncs: Bool
    private let state: Mutex<State>

    private struct State {
        var file: any File
        /// Of the newest record.
        var sequence: UInt64
        var slotBytes: Int
        /// How far each slot has bytes of a record; a shorter one is followed by blank lines, for the human eye.
        var used: [Int]
        /// A write or sync failed: nobody knows what that slot holds, and the other is the only good one. So the next
        /// record goes into a new file.
        var isDoubtful = false
        var isClosed = false
    }

    private init(path: FilePath, fileSystem: any FileSystem, syncs: Bool, state: State) {
        self.path = path
        self.fileSystem = fileSystem
        self.syncs = syncs
        self.state = Mutex(state)
    }

    /// Makes a journal with its first record, whole or not at all; never replaces.
    ///
    /// When the directory could not be synced it throws, and the journal is there, whole.
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

    /// Opens and locks a journal that is ours; gives its newest whole record.
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

    /// The newest whole record of a journal that is ours, without a lock: somebody may be writing the next.
    package static func read(at path: FilePath, fileSystem: any FileSystem) throws(JournalError) -> JournalRecord {
        let file = try openOurs(path, .readOnly, fileSystem)
        defer { file.close() }
        return try JournalImage(file, path: path).record
    }

    /// What a journal says is believed when it is ours alone: others may give its name to what they like.
    private static func openOurs(
        _ path: FilePath, _ access: FileAccess, _ fileSystem: any FileSystem
    ) throws(JournalError) -> any File {
        do throws(FileError) { return try fileSystem.openOurs(path, access) } catch {
            switch error.kind {
            case .notFound: throw .missing(path)
            case .notOurs(.notRegular): throw .foreign(path)
            default: throw .file(error)
            }
        }
    }

    /// Opens until what is locked is what the path leads to: a writer that grows puts another file there.
    private static func openLocked(
        at path: FilePath, fileSystem: any FileSystem
    ) throws(JournalError) -> any File {
        for _ in 0..<100 {
            let file = try openOurs(path, .readWrite, fileSystem)
            do throws(FileError) {
                var isLocked = true
                do throws(FileError) { isLocked = try file.tryLock() } catch {
                    // Without locks the part file's is missing too: nothing is lost by going on.
                    guard error.kind == .unsupported else { throw error }
                }
                let named = try fileSystem.statusIfPresent(path)
                if let named, named.isSameFile(as: try file.status()) {
                    if isLocked { return file }
                    throw FileError(.lock, path, kind: .exists)
                }
                file.close()
            } catch {
                file.close()
                throw error.operation == .lock && error.kind == .exists ? .locked(path) : .file(error)
            }
        }
        throw .locked(path)
    }

    /// The sequence number of the newest record.
    package var sequence: UInt64 { state.withLock { $0.sequence } }

    /// Writes a record; when this returns it is durable (unless `syncs` is off).
    ///
    /// When it throws, the record before still counts, and the next write goes into a new file.
    package func write(_ record: JournalRecord) throws(JournalError) {
        let payload = try JournalText.bytes(record, path: path)
        try withState { (state: inout State) throws(JournalError) in try put(payload, &state) }
    }

    /// Writes a record so that no older one can come back, even if this one is damaged later.
    ///
    /// For what takes claims back: with ``write(_:)`` the other slot still has them.
    package func retract(_ record: JournalRecord) throws(JournalError) {
        let payload = try JournalText.bytes(record, path: path)
        try withState { (state: inout State) throws(JournalError) in
            try put(payload, &state)
            try put(payload, &state)
        }
    }

    /// Whether the path still leads to this file (B6); what is written to it elsewhere nobody finds.
    package func isIntact() throws(FileError) -> Bool {
        let file = state.withLock { $0.file }
        guard let named = try fileSystem.statusIfPresent(path) else { return false }
        return try named.isSameFile(as: file.status())
    }

    /// Gives the lock back; idempotent.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.file.close()
        }
    }

    /// Removes it, when the path still leads to it, and closes it; with `syncs` the directory is synced.
    package func remove(syncs: Bool = false) throws(JournalError) {
        defer { close() }
        do throws(FileError) {
            guard try isIntact() else { return }
            // allow(ours): the path leads to the journal that is open.
            try fileSystem.unlink(path)
            if syncs {
                let directory = path.removingLastComponent()
                do throws(FileError) { try fileSystem.syncDirectory(directory.isEmpty ? "." : directory) } catch {
                    guard error.kind == .unsupported else { throw error }
                }
            }
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
            // An array: a collection without storage is gone through one by one where the compiler does not know it.
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

    /// Everything into a new file, which takes the place of this one.
    private func rewrite(_ payload: [UInt8], _ state: inout State) throws(JournalError) {
        let writer = JournalWriter(path: path, fileSystem: fileSystem, syncs: syncs)
        // Past the largest number counting begins anew; in a new file there is nothing that could seem newer.
        let next = state.sequence < .max ? state.sequence + 1 : 1
        let written: JournalWriter.Written
        do throws(JournalError) {
            guard try isNamed(state.file) else { throw .missing(path) }
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
            // It has the place, but that may not survive a power cut: the record before may come back.
            state.isDoubtful = true
            throw .file(failure)
        }
    }

    /// Somebody else's file, put there meanwhile, is not replaced.
    private func isNamed(_ file: any File) throws(JournalError) -> Bool {
        do throws(FileError) {
            guard let named = try fileSystem.statusIfPresent(path) else { return false }
            return try named.isSameFile(as: file.status())
        } catch {
            throw .file(error)
        }
    }
}
