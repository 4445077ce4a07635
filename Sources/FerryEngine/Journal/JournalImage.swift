package import FerryCore
package import SystemPackage

/// The content of a complete journal file, with its newest complete record.
package struct JournalImage {
    /// The maximum size of a journal in bytes.
    static let maxBytes = 16 << 20

    package var record: JournalRecord
    var slot: JournalSlot

    /// Finds the newest complete record.
    package init(_ bytes: [UInt8], path: FilePath) throws(JournalError) {
        guard !bytes.isEmpty else { throw .empty(path) }
        // A torn first slot may lack the slot size, but the file always consists of two slots of the same size.
        var offsets: Set<Int> = [0, bytes.count / 2]
        if let claimed = JournalSlot.claimedSlotBytes(bytes) { offsets.insert(claimed) }
        let slots = offsets.compactMap { JournalSlot(bytes, at: $0) }
        guard let newest = slots.max(by: { $0.sequence < $1.sequence }) else {
            throw Self.isOurs(bytes, at: offsets) ? .torn(path) : .foreign(path)
        }
        if newest.version > JournalRecord.currentVersion { throw .newerVersion(path, newest.version) }
        // A complete record that violates the rules is not a torn write, so an older record must not replace it.
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

    /// Returns whether the content shows that the file was a journal.
    private static func isOurs(_ bytes: [UInt8], at offsets: Set<Int>) -> Bool {
        // A power failure can leave a file with its length but without its data.
        if bytes.allSatisfy({ $0 == 0 || $0 == JournalWriter.blank }) { return true }
        return offsets.contains { bytes.dropFirst($0).starts(with: JournalSlot.magic.utf8) }
    }
}
