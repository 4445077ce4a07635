import FerryCore
import SystemPackage

/// Writes a complete journal file and puts it in place atomically.
struct JournalWriter {
    struct Written {
        var file: any File
        var slotBytes: Int
        /// The error if the journal is in place but its directory could not be synced.
        var failure: FileError?
    }

    /// The fill byte of slots.
    static let blank = UInt8(ascii: "\n")
    /// The minimum slot size of a new journal; most never grow.
    static let minSlotBytes = 8_192
    /// Readable by the owner only, because the URLs include their queries.
    static let mode: UInt16 = 0o600

    let path: FilePath
    let fileSystem: any FileSystem
    let syncs: Bool

    /// Writes the locked file; with `replacing: false` an existing path throws ``JournalError/exists(_:)``.
    func write(_ payload: [UInt8], sequence: UInt64, replacing: Bool) throws(JournalError) -> Written {
        let slotBytes = try Self.slotBytes(for: payload.count, path: path)
        let slot = JournalSlot(
            version: JournalRecord.currentVersion, sequence: sequence, slotBytes: slotBytes, payload: payload)
        var bytes = [UInt8](repeating: Self.blank, count: 2 * slotBytes)
        let encoded = slot.encode()
        let start = JournalSlot.index(of: sequence) * slotBytes
        bytes.replaceSubrange(start..<(start + encoded.count), with: encoded)
        let file: any File
        do throws(FileError) {
            file = try replacing ? replace(bytes) : place(bytes)
        } catch {
            // Only `place` reports a link error, for the final path.
            throw !replacing && error.operation == .link && error.kind == .exists ? .exists(path) : .file(error)
        }
        do throws(FileError) {
            try settle()
            return Written(file: file, slotBytes: slotBytes)
        } catch {
            return Written(file: file, slotBytes: slotBytes, failure: error)
        }
    }

    /// Returns the slot size for a record with room to grow, so that rewriting is rare.
    static func slotBytes(for payloadBytes: Int, path: FilePath) throws(JournalError) -> Int {
        let needed = payloadBytes + JournalSlot.maxHeaderBytes + 2
        let wanted = max(needed + needed / 2, minSlotBytes)
        let size = (wanted + JournalSlot.alignment - 1) / JournalSlot.alignment * JournalSlot.alignment
        guard size <= JournalImage.maxBytes / 2 else { throw .tooLarge(path) }
        return size
    }

    /// The temporary name. There is only one writer, so an existing file that passes the ownership check is left from
    /// a crash.
    private var newPath: FilePath {
        DownloadPaths.draft(of: path)
    }

    private func place(_ bytes: [UInt8]) throws(FileError) -> any File {
        let file: any File
        do throws(FileError) {
            file = try fileSystem.openUnnamed(in: path.parent, mode: Self.mode)
        } catch {
            guard error.kind == .unsupported else { throw error }
            return try placeByName(bytes)
        }
        do throws(FileError) {
            try fill(file, bytes)
            try fileSystem.link(file, to: path)
            return file
        } catch {
            file.close()
            // Without /proc an unnamed file cannot always be named; the other method reports any further error.
            guard error.operation == .link, [.notFound, .permission, .unsupported].contains(error.kind) else {
                throw error.of(unnamed: path)
            }
            return try placeByName(bytes)
        }
    }

    /// Writes through a temporary name if the file system has no unnamed files. An existing journal is detected before writing,
    /// and again by the rename.
    private func placeByName(_ bytes: [UInt8]) throws(FileError) -> any File {
        guard try !fileSystem.exists(path) else { throw FileError(.link, path, kind: .exists) }
        return try throughNewName(bytes) { () throws(FileError) in
            do throws(FileError) {
                try fileSystem.rename(newPath, to: path, replacing: false)
            } catch {
                if error.kind == .exists { throw FileError(.link, path, kind: .exists) }
                guard error.kind == .unsupported else { throw error }
                if try fileSystem.exists(path) { throw FileError(.link, path, kind: .exists) }
                try fileSystem.rename(newPath, to: path, replacing: true)
            }
        }
    }

    private func replace(_ bytes: [UInt8]) throws(FileError) -> any File {
        try throughNewName(bytes) { () throws(FileError) in
            try fileSystem.rename(newPath, to: path, replacing: true)
        }
    }

    private func throughNewName(
        _ bytes: [UInt8], _ rename: () throws(FileError) -> Void
    ) throws(FileError) -> any File {
        if let flaw = try fileSystem.flaw(at: newPath) { throw FileError(.create, newPath, kind: .notOurs(flaw)) }
        // allow(ours): checked just now.
        try fileSystem.removeIfPresent(newPath)
        let file = try fileSystem.create(newPath, mode: Self.mode)
        do throws(FileError) {
            try fill(file, bytes)
            try rename()
            return file
        } catch {
            file.close()
            // allow(ours): created above.
            try? fileSystem.unlink(newPath)
            throw error
        }
    }

    private func fill(_ file: any File, _ bytes: [UInt8]) throws(FileError) {
        do throws(FileError) {
            guard try file.tryLock() else { throw FileError(.lock, path, kind: .other(0)) }
        } catch {
            guard error.kind == .unsupported else { throw error }
        }
        file.mark(as: .unfinished)
        try file.write(bytes, at: 0)
        if syncs { try file.sync() }
    }

    private func settle() throws(FileError) {
        if syncs { try fileSystem.syncDirectoryIfSupported(path.parent) }
    }
}
