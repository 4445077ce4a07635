package import FerryCore
import FerryEngine
import SystemPackage

/// Reads a download's file: first from the runs that fetch it, then from the published file.
///
/// The reader is bound to one open file. It continues with another run, or with the published file, only if that is the same file.
/// A different file ends the sequence with an error, unless no byte has been returned yet and the new file is the same
/// representation.
final class ContentReading: ContentReader {
    /// The reader's registration with a run.
    private struct Place {
        let driver: DownloadDriver
        let reader: ReaderID

        func leave() { driver.removeReader(reader) }
    }

    /// What can be read in the current state of the download.
    private enum Source {
        case run(DownloadDriver)
        case published(DownloadContent.Description, ContentFile)
        /// Nothing can be read yet; wait for a change of the state.
        case none
    }

    private let download: Download
    private let scheduler: Scheduler
    private var live: LiveDownload { download.live }
    private var span: ContentSpan
    private var place: Place?
    /// A run that ended before the state of the download changed.
    private var ended: DownloadDriver?

    /// The number of bytes at the end of a whole file that are held back until the download is complete.
    private static let heldBack: ByteCount = 64 << 10

    init(
        _ download: Download, in scheduler: Scheduler, range: Range<ByteCount>?,
        of description: DownloadContent.Description?
    ) {
        self.download = download
        self.scheduler = scheduler
        span = ContentSpan(range, of: description)
    }

    deinit { place?.leave() }

    /// Leaves the run. Throws if bytes that the run has handed out were wrong.
    private func leave() throws(DownloadError) {
        guard let place else { return }
        try place.driver.checkBytes(of: place.reader)
        place.leave()
        self.place = nil
    }

    func describe() async throws(DownloadError) -> DownloadContent.Description {
        while true {
            let seen = live.changes.count
            switch try await source() {
            case .published(let description, _): return description
            case .run(let driver):
                if let description = try await describe(driver) { return description }
                ended = driver
            case .none: await live.changes.wait(after: seen)
            }
        }
    }

    private func describe(_ driver: DownloadDriver) async throws(DownloadError) -> DownloadContent.Description? {
        guard let open = try await driver.openContent() else { return nil }
        return DownloadContent.Description(
            size: open.totalBytes, mediaType: open.identity.contentType,
            entityTag: open.identity.strongTag ?? open.file.entityTag, lastModified: open.identity.lastModified,
            isComplete: false, file: open.file)
    }

    func next() async throws(DownloadError) -> [UInt8]? {
        while true {
            let seen = live.changes.count
            switch try await source() {
            case .published(let description, let file):
                try leave()
                try bind(description)
                return try await readPublished(description, file)
            case .run(let driver):
                switch try await read(driver) {
                case .bytes(let bytes): return bytes
                case .end:
                    if !span.isWhole { return nil }
                    // The state changes when the file is complete, or has turned out to be wrong.
                    await live.changes.wait(after: seen)
                case .otherFile:
                    try leave()
                    if let new = try await describe(driver) { try bind(new) }
                case .over:
                    try leave()
                    ended = driver
                }
            case .none: await live.changes.wait(after: seen)
            }
        }
    }

    /// Returns the source that can be read now. Throws if the download does not continue automatically.
    private func source() async throws(DownloadError) -> Source {
        if let content = span.content, content.isComplete, let file = content.file { return .published(content, file) }
        try live.checkMayBeRead(in: scheduler)
        let status = live.status
        if let published = try await scheduler.publishedContent(of: live), let file = published.file {
            return .published(published, file)
        }
        switch status.state {
        case .failed(let error): throw error
        case .waiting(.freshLink), .waiting(.credentials):
            throw status.waitError ?? status.state.unreadable(status.name)
        case .paused, .cancelled: throw status.state.unreadable(status.name)
        case .waiting, .downloading, .verifying, .completed:
            if live.request.isStream { throw DownloadError(.wrongState, ErrorPhrase(.readsStream, status.name)) }
            guard let driver = live.driver, driver !== ended else { return .none }
            return .run(driver)
        }
    }

    /// Binds the reader to a file. Throws if the reader is already bound to another file.
    private func bind(_ new: DownloadContent.Description) throws(DownloadError) {
        defer { span.content = new }
        guard span.isBound, let old = span.content else { return }
        if let file = old.file, let other = new.file, file.status.isSameFile(as: other.status) { return }
        // If only the headers of this representation have been sent, another file with the same representation may follow.
        let isSame = old.entityTag != nil && old.entityTag == new.entityTag && old.size == new.size
        if span.hasBegun || !isSame {
            throw DownloadError(.remoteChanged, ErrorPhrase(.changedWhileRead, live.status.name))
        }
    }

    private func readPublished(
        _ description: DownloadContent.Description, _ file: ContentFile
    ) async throws(DownloadError) -> [UInt8]? {
        let end = min(span.range.upperBound, description.size ?? 0, span.position + DownloadDriver.mostPiece)
        guard span.position < end else { return nil }
        let bytes = try await file.read(span.position..<end)
        (span.position, span.isBound) = (end, true)
        return bytes
    }

    private func read(_ driver: DownloadDriver) async throws(DownloadError) -> DownloadDriver.Piece {
        if place?.driver !== driver {
            try leave()
            guard let reader = await driver.addReader(of: span.position..<span.range.upperBound) else { return .over }
            place = Place(driver: driver, reader: reader)
        }
        if span.content?.file == nil, let new = try await describe(driver) { try bind(new) }
        guard let content = span.content, let file = content.file, let place else { return .over }
        let held = span.isWhole ? content.size.map { max(span.position, $0 - Self.heldBack) } : nil
        let piece = try await driver.read(place.reader, of: file, before: held ?? .max)
        if case .bytes(let bytes) = piece {
            span.position += ByteCount(bytes.count)
            span.isBound = true
        }
        return piece
    }
}

/// The span that a reader reads, and its position in it.
package struct ContentSpan {
    /// The range in bytes; its end may lie beyond the end of the file.
    package let range: Range<ByteCount>
    /// Whether the whole file is read; then its last bytes are handed out only when the download is complete.
    package let isWhole: Bool
    /// The representation that is read, once known.
    package var content: DownloadContent.Description?
    /// Whether only bytes of this representation may be handed out.
    package var isBound: Bool
    /// The offset of the next byte.
    package var position: ByteCount

    package init(_ range: Range<ByteCount>?, of description: DownloadContent.Description?) {
        position = max(0, range?.lowerBound ?? 0)
        self.range = position..<max(position, range?.upperBound ?? .max)
        isWhole = range == nil
        content = description
        isBound = description != nil
    }

    /// Whether any bytes have been handed out.
    package var hasBegun: Bool { position > range.lowerBound }
}

extension LiveDownload {
    /// Throws if the reader's task was cancelled, the download has left the list, or its manager was shut down.
    package func checkMayBeRead(in backend: any DownloadBackend) throws(DownloadError) {
        if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, status.name)) }
        if backend.isShutDown { throw DownloadError(.shutDown, ErrorPhrase(.leftAtShutDown, status.name)) }
        if isClosed { throw DownloadError(.notFound, ErrorPhrase(.notListed, status.name)) }
    }
}
