package import FerryCore
package import SystemPackage

/// The bytes of a whole journal file, read: the newest record that is whole.
package struct JournalImage {
    /// The most bytes that are read; no journal is larger.
    static let maxBytes = 16 << 20

    package var record: JournalRecord
    var slot: JournalSlot

    /// Finds the newest whole record.
    package init(_ bytes: [UInt8], path: FilePath) throws(JournalError) {
        guard !bytes.isEmpty else { throw .empty(path) }
        // A torn first slot tells no size; but the file is always two slots long.
        var offsets: Set<Int> = [0, bytes.count / 2]
        if let claimed = JournalSlot.claimedSlotBytes(bytes) { offsets.insert(claimed) }
        let slots = offsets.compactMap { JournalSlot(bytes, at: $0) }
        guard let newest = slots.max(by: { $0.sequence < $1.sequence }) else {
            throw Self.isOurs(bytes, at: offsets) ? .torn(path) : .foreign(path)
        }
        if newest.version > JournalRecord.currentVersion { throw .newerVersion(path, newest.version) }
        // A whole record that cannot be was not torn: an older one would not be what was last known.
        record = try JournalText.record(newest.payload, path: path)
        slot = newest
    }

    /// Reads the file, at most ``maxBytes``.
    init(_ file: any File, path: FilePath) throws(JournalError) {
        var bytes: [UInt8] = []
        do throws(FileError) {
            let status = try file.status()
            if status.length <= Self.maxBytes {
                let size = Int(status.length)
                var failure: FileError?
                bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                    do throws(FileError) {
                        count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
                    } catch {
                        failure = error
                        count = 0
                    }
                }
                if let failure { throw failure }
            } else {
                throw FileError(.read, path, kind: .tooLarge)
            }
        } catch {
            if error.errno == nil, error.kind == .tooLarge { throw .tooLarge(path) }
            throw .file(error)
        }
        try self.init(bytes, path: path)
    }

    /// Whether anything in it says that it was a journal.
    private static func isOurs(_ bytes: [UInt8], at offsets: Set<Int>) -> Bool {
        // A power cut can leave the length of a file and none of its bytes.
        if bytes.allSatisfy({ $0 == 0 || $0 == JournalWriter.blank }) { return true }
        return offsets.contains { bytes.dropFirst($0).starts(with: JournalSlot.magic.utf8) }
    }
}
