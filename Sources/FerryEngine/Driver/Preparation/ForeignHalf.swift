import FerryCore
import SystemPackage

/// The half file of another program (a browser, curl, wget, aria2), which the user named together with its URL.
///
/// Nothing is written to it before samples have shown that its bytes are the server's.
enum ForeignHalf {
    /// Some bytes may be there.
    case compare(ExistingFile, RangeSet<ByteCount>, name: String)
    /// aria2 has noted no piece, as after a kill in its first minute: by its own account nothing of the file is there, only
    /// space for it. The new file replaces it, and the control file goes after that.
    case empty(PublishedFile, name: String)
    /// The control file may be about another file, so the half file is left as it is.
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
        let control = FilePath(path.string + Aria2ControlFile.suffix)
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

    /// Reads which bytes of its file aria2 has written: it reserves the whole length at the start, and fills it at several
    /// places. `nil` if the control file cannot be understood.
    private static func aria2Control(_ control: FilePath, _ disk: Disk) throws(FileError) -> Aria2ControlFile? {
        let file = try disk.fileSystem.openOurs(control, .readOnly, for: .content)
        defer { file.close() }
        let length = try file.status().length
        guard length <= Aria2ControlFile.mostBytes else { return nil }
        return Aria2ControlFile(try file.read(0..<length))
    }

    /// Returns whether the control file may be about this file: not if Ferry has downloaded either of them, if the file is
    /// longer than the one that aria2 began, or if the file has bytes of which none is noted. Such a file is whole, or no
    /// longer the one that aria2 wrote.
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
