import FerryCore
import SystemPackage

/// The partial file of another program (a browser, curl, wget, aria2), which the user named together with its URL.
///
/// Nothing is written to it before samples have shown that its bytes match the server's.
enum ForeignHalf {
    /// The file may contain bytes of the download.
    case compare(ExistingFile, RangeSet<ByteCount>, name: String)
    /// aria2 has recorded no piece, for example because it was killed in its first minute: according to its control file, the
    /// file is only reserved space. The new file replaces it, and the control file is removed after that.
    case empty(PublishedFile, name: String)
    /// The control file may belong to another file, so the partial file is not changed.
    case doubtful(control: FilePath)

    init(at path: FilePath, _ disk: Disk) throws(FileError) {
        let file = try disk.fileSystem.openOurs(path, .readOnly, for: .content)
        do throws(FileError) { self = try Self.look(at: path, file, disk) } catch {
            file.close()
            throw error
        }
        if case .compare = self { return }
        file.close()
    }

    private static func look(at path: FilePath, _ file: any File, _ disk: Disk) throws(FileError) -> ForeignHalf {
        var half = ExistingFile(path: path, file: file, status: try file.status(), isHalf: true)
        var (ranges, name) = (RangeSet(0..<half.status.length), HalfFile.name(path))
        let control = FilePath(path.string + ReservedName.aria2Control.text)
        if try disk.fileSystem.exists(control) {
            (half.control, name) = (control, path.lastComponent?.string ?? name)
            guard let written = try aria2Control(control, disk) else {
                throw FileError(.read, control, kind: .endedEarly)
            }
            guard try isPlausible(written, control, half, disk) else { return .doubtful(control: control) }
            if written.ranges.isEmpty {
                guard half.isUnchanged(disk) else { throw FileError(.read, path, kind: .endedEarly) }
                return .empty(PublishedFile(path, half.status), name: name)
            }
            ranges.formIntersection(written.ranges)
        }
        guard !ranges.isEmpty else { throw FileError(.read, path, kind: .endedEarly) }
        return .compare(half, ranges, name: name)
    }

    /// Reads which bytes of its file aria2 has written, because aria2 reserves the whole length at the start and writes at
    /// several offsets. `nil` if the control file cannot be parsed.
    private static func aria2Control(_ control: FilePath, _ disk: Disk) throws(FileError) -> Aria2ControlFile? {
        let file = try disk.fileSystem.openOurs(control, .readOnly, for: .content)
        defer { file.close() }
        let length = try file.status().length
        guard length <= Aria2ControlFile.mostBytes else { return nil }
        return Aria2ControlFile(try file.read(0..<length))
    }

    /// Returns whether the control file may belong to this file. It does not if Ferry has downloaded either of them, if the file
    /// is longer than the one that aria2 started, or if the file has bytes but none is recorded: such a file is complete, or
    /// has been replaced since.
    private static func isPlausible(
        _ written: Aria2ControlFile, _ control: FilePath, _ half: ExistingFile, _ disk: Disk
    ) throws(FileError) -> Bool {
        guard half.status.length <= written.totalBytes, SourceAttribute.read(half.file)?.isOf(half.status) != true
        else {
            return false
        }
        let record = try disk.fileSystem.openOurs(control, .readOnly, for: .content)
        defer { record.close() }
        guard SourceAttribute.read(record) == nil else { return false }
        if !written.ranges.isEmpty { return true }
        return try isReservedSpace(half.file, length: half.status.length)
    }

    /// Returns whether all bytes are zero.
    private static func isReservedSpace(_ file: any File, length: ByteCount) throws(FileError) -> Bool {
        var start: ByteCount = 0
        while start < length {
            let piece = try file.read(start..<min(length, start + 1 << 20))
            guard !piece.isEmpty, piece.allSatisfy({ $0 == 0 }) else { return false }
            start += ByteCount(piece.count)
        }
        return true
    }
}
