package import FerryCore
import Synchronization
import SystemPackage

/// Reading the file while it is fetched, from its part file.
///
/// Bytes are handed out as soon as they are written, synced or not, and only under these conditions, checked before and
/// after the bytes are read: the part file is the one that the reader has open, the server has confirmed its
/// representation in this run, and no byte was forgotten meanwhile.
extension DownloadDriver {
    /// A representation with a part file.
    package struct OpenContent: Sendable {
        package let file: ContentFile
        /// `nil` if the server gave no length.
        package let totalBytes: ByteCount?
        package let identity: FileIdentity
    }

    /// The result of waiting for bytes.
    package enum Piece: Sendable {
        case bytes([UInt8])
        /// The reader has received its whole range, or all of the file.
        case end
        /// The part file is not the one that the reader has open.
        case otherFile
        /// The run has ended.
        case over
    }

    /// The most bytes of a piece.
    package static let mostPiece: ByteCount = 256 << 10

    /// Opens the part file, as soon as there is one whose representation the server has confirmed. Returns `nil` when the
    /// run ends before. A file that is small enough to be published from memory has one only if it is slow.
    package func openContent() async throws(DownloadError) -> OpenContent? {
        while !Task.isCancelled {
            let seen = contentChanges.count
            let found = state.withLock { state -> (PartSession, ByteCount?, FileIdentity)? in
                state.readable.map { ($0, state.machine.planner.total, state.machine.file.identity) }
            }
            if let (session, total, identity) = found {
                if let file = try? await ContentFile.open(session.paths.part, files), file.isPart(of: session) {
                    return OpenContent(file: file, totalBytes: total, identity: identity)
                }
                // The file was renamed or replaced meanwhile: the run ends, or has another pair.
            }
            if state.withLock({ $0.isOver }) { return nil }
            await contentChanges.wait(after: seen)
        }
        throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, state.withLock { $0.placement.name }))
    }

    /// Adds a reader, whose next bytes are fetched before all others. Waits until the run has looked for existing files;
    /// returns `nil` if it ends before.
    package func addReader(of range: Range<ByteCount>) async -> ReaderID? {
        while !Task.isCancelled {
            let seen = contentChanges.count
            let (id, isOver) = state.withLock { state in
                (state.startedAt == nil || state.isOver ? nil : state.machine.readers.add(range), state.isOver)
            }
            if id != nil || isOver { return id }
            await contentChanges.wait(after: seen)
        }
        return nil
    }

    package func removeReader(_ id: ReaderID) { state.withLock { $0.machine.readers.remove(id) } }

    /// Throws `checksum` if bytes that the reader has received were found to be wrong, also after the end of the run.
    package func checkBytes(of id: ReaderID) throws(DownloadError) {
        let isRefuted = state.withLock { $0.machine.readers[id]?.isRefuted ?? false }
        if isRefuted { throw DownloadError(.checksum, ErrorPhrase(.readBytesWrong)) }
    }

    /// Returns the next bytes of a reader, at most ``mostPiece``, and of the part before `end`; waits for them.
    package func read(
        _ id: ReaderID, of file: ContentFile, before end: ByteCount
    ) async throws(DownloadError) -> Piece {
        while !Task.isCancelled {
            let seen = contentChanges.count
            let next = next(id, of: file, before: end)
            // Last, so that no end is reported instead.
            try checkBytes(of: id)
            switch next {
            case .found(let range):
                let bytes = try await file.read(range)
                if confirm(range, id, file) { return .bytes(bytes) }
            case .ended(let piece): return piece
            case .missing(let isNew):
                if isNew { updates.notify() }
                await contentChanges.wait(after: seen)
            }
        }
        throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, state.withLock { $0.placement.name }))
    }

    private enum NextBytes {
        case found(Range<ByteCount>)
        case ended(Piece)
        case missing(isNew: Bool)
    }

    private func next(_ id: ReaderID, of file: ContentFile, before end: ByteCount) -> NextBytes {
        let now = environment.clock.now()
        return state.withLock { state in
            guard let reader = state.machine.readers[id], !state.isOver else { return .ended(.over) }
            guard let session = state.readable else { return .missing(isNew: false) }
            guard file.isPart(of: session) else { return .ended(.otherFile) }
            let end = min(reader.end, end, state.machine.planner.end)
            if reader.position >= end { return .ended(.end) }
            let most = min(Self.mostPiece, end - reader.position)
            if let range = state.machine.available(to: id, most: most) { return .found(range) }
            return .missing(isNew: state.machine.readers.waits(id, at: now))
        }
    }

    /// Records the bytes as received if they still are those of the file.
    private func confirm(_ range: Range<ByteCount>, _ id: ReaderID, _ file: ContentFile) -> Bool {
        state.withLock { state in
            guard let session = state.readable, file.isPart(of: session), state.machine.planner.written.holds(range),
                state.machine.readers[id]?.isRefuted == false
            else { return false }
            state.machine.readers.received(to: range.upperBound, by: id)
            return true
        }
    }

    /// Wakes the readers, after anything that they wait for may have changed.
    func wakeReaders() { contentChanges.notify() }
}

extension DownloadDriver.State {
    /// The part file whose bytes are those of the representation that the server has confirmed.
    fileprivate var readable: PartSession? {
        isOver || machine.file.representation == nil ? nil : storage.part
    }
}

extension ContentFile {
    /// Whether it is the part file of a session.
    fileprivate func isPart(of session: PartSession) -> Bool { (status.device, status.inode) == session.inode }
}
