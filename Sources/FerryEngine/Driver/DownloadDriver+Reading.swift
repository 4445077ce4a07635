package import FerryCore
import SystemPackage

/// Reading the file while it is fetched, from its part file.
///
/// Bytes are returned as soon as they are written, synced or not, under conditions that are checked before and after reading: the
/// reader has the current part file open, the server has confirmed its representation in this run, and none of the bytes has been
/// discarded meanwhile.
extension DownloadDriver {
    /// A representation that has a part file.
    package struct OpenContent: Sendable {
        package let file: ContentFile
        /// `nil` if the server sent no length.
        package let totalBytes: ByteCount?
        package let identity: FileIdentity
    }

    /// The result of waiting for bytes.
    package enum Piece: Sendable {
        case bytes([UInt8])
        /// The reader has received its whole range, or all of the file.
        case end
        /// The part file is not the file that the reader has open.
        case otherFile
        /// The run has ended.
        case over
    }

    /// The maximum number of bytes in a piece.
    package static let mostPiece: ByteCount = 256 << 10

    /// Opens the part file as soon as there is one whose representation the server has confirmed. Returns `nil` if the run ends
    /// before that. A file that is small enough to be published from memory has a part file only if its download is slow.
    package func openContent() async throws(DownloadError) -> OpenContent? {
        while !Task.isCancelled {
            let seen = contentChanges.count
            if let (session, total, identity) = transfer.readable {
                if let file = try? await ContentFile.open(session.paths.part, files), file.isPart(of: session) {
                    return OpenContent(file: file, totalBytes: total, identity: identity)
                }
                // The file was renamed or replaced meanwhile, so the run is about to end or has another part file.
            }
            if transfer.isOver { return nil }
            await contentChanges.wait(after: seen)
        }
        throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, target.name))
    }

    /// Adds a reader, whose next bytes are fetched before all others. Waits until the run has looked for existing files; returns
    /// `nil` if the run ends before that.
    package func addReader(of range: Range<ByteCount>) async -> ReaderID? {
        while !Task.isCancelled {
            let seen = contentChanges.count
            let (id, isOver) = transfer.addReader(of: range)
            if id != nil || isOver { return id }
            await contentChanges.wait(after: seen)
        }
        return nil
    }

    package func removeReader(_ id: ReaderID) { transfer.removeReader(id) }

    /// Throws `checksum` if bytes that the reader has received were found to be wrong, even after the end of the run.
    package func checkBytes(of id: ReaderID) throws(DownloadError) {
        if transfer.isRefuted(id) { throw DownloadError(.checksum, ErrorPhrase(.readBytesWrong)) }
    }

    /// Waits for the next bytes of a reader and returns them: at most ``mostPiece``, and only from the range before `end`.
    package func read(
        _ id: ReaderID, of file: ContentFile, before end: ByteCount
    ) async throws(DownloadError) -> Piece {
        while !Task.isCancelled {
            let seen = contentChanges.count
            let next = transfer.nextBytes(id, of: file, before: end, most: Self.mostPiece)
            // Checked last, so that wrong bytes are not reported as a regular end.
            try checkBytes(of: id)
            switch next {
            case .found(let range):
                let bytes = try await file.read(range)
                if transfer.confirm(range, id, file) { return .bytes(bytes) }
            case .ended(let piece): return piece
            case .missing(let isNew):
                if isNew { updates.notify() }
                await contentChanges.wait(after: seen)
            }
        }
        throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, target.name))
    }

    /// Wakes the readers, after anything that they wait for may have changed.
    func wakeReaders() { contentChanges.notify() }
}

extension ContentFile {
    /// Whether the file is the part file of a session.
    func isPart(of session: PartSession) -> Bool { (status.device, status.inode) == session.inode }
}
