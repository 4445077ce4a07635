import FerryCore
import SystemPackage

/// A file that existed before the run and may have the wanted bytes. Nothing is written while it is compared. If its bytes
/// match, a complete file is used as it is, and a partial file becomes the part file of a ``PartSession``; otherwise it is not
/// used.
final class ExaminedFile: Sink {
    let existing: ExistingFile

    init(_ existing: ExistingFile) { self.existing = existing }

    var isRewritable: Bool { true }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool {
        throw FileError(.write, existing.path, kind: .closed)
    }

    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]? { try? existing.file.read(range) }

    func checkpoint(_ statement: JournalStatement, _ disk: Disk) -> Bool { false }

    func retract(to statement: JournalStatement, _ disk: Disk) {}

    func setAside(_ reason: Reason, for owner: BackupPair.Owner, _ disk: Disk) -> Prepared.Backup? {
        close(disk)
        return nil
    }

    func discard(_ disk: Disk) { close(disk) }

    func close(_ disk: Disk) { existing.file.close() }
}
