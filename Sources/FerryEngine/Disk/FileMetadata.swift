import FerryCore

/// The mode, modification time and source attribute of a published file. A failure to set one of them is only noted.
struct FileMetadata {
    let order: PublishOrder
    /// The permission bits; `nil` if the file was created with the right ones.
    let mode: UInt16?

    init(_ order: PublishOrder, mode: UInt16?) {
        self.order = order
        self.mode = mode
    }

    /// Copies the mode, modification time and source attribute of a file to its copy, as far as the file system supports them.
    static func copy(of source: any File, _ status: FileStatus, to copy: any File) {
        copy.mark(as: .finished)
        try? copy.setMode(status.mode)
        try? copy.setModificationTime(status.modified)
        if let value = try? source.attribute(SourceAttribute.name) {
            try? copy.setAttribute(SourceAttribute.name, value)
        }
    }

    /// Applies the role, mode, modification time and attribute; returns a note for each failure.
    func put(on file: any File) -> [PublishNote] {
        var notes: [PublishNote] = []
        file.mark(as: .finished)
        if let mode {
            do throws(FileError) { try file.setMode(mode) } catch { notes.append(.modeNotSet(error)) }
        }
        var modified: FileTime?
        if let time = order.modificationTime {
            do throws(FileError) {
                try file.setModificationTime(time)
                modified = time
            } catch {
                notes.append(.timeNotSet(error))
            }
        }
        if let source = order.source {
            do throws(FileError) {
                // Readers compare the attribute with the file's modification time, which is read unless it was just set.
                let time = if let modified { modified } else { try file.status().modified }
                let value = SourceAttribute(source, length: order.length, modified: time).encode()
                try file.setAttribute(SourceAttribute.name, value)
            } catch {
                notes.append(.attributeNotSet(error))
            }
        }
        return notes
    }
}
