import Ferry
import FerryAPI
import FerryCore
import FerryEngine

/// A reader of a download's file through the daemon.
///
/// ```
/// next ──► request the bytes from the position on ──► piece, piece, … ──► end
///               ▲ the same representation                │ the daemon was lost
///               └────────────────────────────────────────┘
/// ```
///
/// A response with the whole file ends only when the download is complete, so a reader of the whole file requests the whole file
/// again and skips the bytes that it has already read.
final class RemoteContentReading: ContentReader {
    /// A response that is being read, and the position of its next byte.
    private struct Source {
        let body: ContentBody
        let boot: String?
        var position: ByteCount
    }

    private let download: Download
    private let session: RemoteSession
    private var live: LiveDownload { download.live }
    private var span: ContentSpan
    private var source: Source?
    /// The boot identifier of the daemon whose last response ended early.
    private var broken: String?
    private var isAtEnd = false

    init(
        _ download: Download, in session: RemoteSession, range: Range<ByteCount>?,
        of description: DownloadContent.Description?
    ) {
        self.download = download
        self.session = session
        span = ContentSpan(range, of: description)
    }

    func describe() async throws(DownloadError) -> DownloadContent.Description {
        let (client, id) = (session.link.client, live.id)
        return description(
            of: try await respond { () async throws(DaemonFailure) in try await client.contentHead(of: id) })
    }

    private func description(of response: ContentResponse) -> DownloadContent.Description {
        let isComplete = if case .completed = live.current { true } else { false }
        return DownloadContent.Description(
            size: response.size, mediaType: response.mediaType, entityTag: response.entityTag,
            lastModified: response.lastModified, isComplete: isComplete, file: nil)
    }

    func next() async throws(DownloadError) -> [UInt8]? {
        while !isAtEnd, span.position < span.range.upperBound {
            try live.checkMayBeRead(in: session)
            guard let source else {
                try await open()
                continue
            }
            let attempt = session.attempt
            do throws(DaemonFailure) {
                let piece = try await session.link.watched(.content) { () async throws(DaemonFailure) in
                    // allow(body): the body is from the user's daemon, and `watched` ends a response that stays silent.
                    try await source.body.next()
                }
                guard let piece else {
                    isAtEnd = true
                    break
                }
                if let bytes = take(piece, at: source.position) { return bytes }
            } catch {
                try live.checkMayBeRead(in: session)
                broken = source.boot
                self.source = nil
                await session.lost(since: attempt)
            }
        }
        source = nil
        return nil
    }

    /// Returns the received bytes that have not been read yet and are within the range.
    private func take(_ piece: [UInt8], at start: ByteCount) -> [UInt8]? {
        let end = start + ByteCount(piece.count)
        source?.position = end
        let wanted = max(start, span.position)..<max(start, span.position, min(end, span.range.upperBound))
        guard !wanted.isEmpty else { return nil }
        (span.position, span.isBound) = (wanted.upperBound, true)
        return Array(piece[Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)])
    }

    /// Requests the bytes from the position on. Throws `remoteChanged` if bytes of another representation have been read.
    private func open() async throws(DownloadError) {
        let (client, id, tag) = (session.link.client, live.id, span.isBound ? span.content?.entityTag : nil)
        let missing = span.isWhole ? nil : span.position..<span.range.upperBound
        let response = try await respond { () async throws(DaemonFailure) in
            try await client.content(of: id, missing, ifRange: tag)
        }
        if span.isBound, !isSame(response) {
            throw DownloadError(.remoteChanged, ErrorPhrase(.changedWhileRead, live.status.name))
        }
        span.content = description(of: response)
        isAtEnd = response.isBeyondEnd
        source = Source(body: response.body, boot: response.boot, position: response.start)
    }

    /// Whether a response has the representation that the reader is bound to.
    private func isSame(_ response: ContentResponse) -> Bool {
        // Without an ETag, the bytes before and after the loss of a daemon cannot be compared.
        guard response.start <= span.position, span.content?.entityTag != nil || !span.hasBegun else {
            return false
        }
        // A running daemon ends a response early if the bytes no longer belong to the file.
        if span.hasBegun, let broken, broken == response.boot { return false }
        return response.isBeyondEnd
            || span.content?.entityTag == response.entityTag && span.content?.size == response.size
    }

    /// Sends a request, and repeats it while the daemon is busy or lost. Stops once the daemon has been lost for the `patience`
    /// of the session.
    private func respond(
        _ request: @escaping @Sendable () async throws(DaemonFailure) -> ContentResponse
    ) async throws(DownloadError) -> ContentResponse {
        var deadline: Duration?
        while true {
            try live.checkMayBeRead(in: session)
            try await session.joined(until: deadline)
            let attempt = session.attempt
            do throws(DaemonFailure) {
                return try await session.link.watched(.content) { () async throws(DaemonFailure) in
                    try await request()
                }
            } catch {
                try live.checkMayBeRead(in: session)
                let failure = session.error(error)
                switch (error, failure.recovery) {
                case (.refused, .transient(let wait?)) where failure.code.rawValue == Problem.Code.busy.rawValue:
                    try? await session.clock.sleep(for: wait)
                    deadline = nil
                case (.unreachable, _),
                    (.refused, _) where failure.code == .shutDown:
                    let now = session.clock.now()
                    deadline = deadline ?? now + session.place.patience
                    if let deadline, now >= deadline { throw failure }
                    await session.lost(since: attempt)
                default: throw failure
                }
            }
        }
    }
}
