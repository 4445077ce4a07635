import FerryCore

/// What a file carries when it is published: mode, time and source. None of it is worth failing for.
struct FileMetadata {
    let order: PublishOrder
    /// The permission bits; `nil` when it was made with the right ones.
    let mode: UInt16?

    init(_ order: PublishOrder, mode: UInt16?) {
        self.order = order
        self.mode = mode
    }

    /// Puts all on; gives what did not work.
    func put(on file: any File) -> [PublishNote] {
        var notes: [PublishNote] = []
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
                // As it is, not as it was wished: the attribute is compared with it later.
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
