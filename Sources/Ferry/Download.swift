public import FerryCore
import FerryEngine

/// A handle to one download. The handle stays valid in every state of the download and retains its manager.
///
/// Two handles to the same download are equal. Operations on one download run in the order of the calls.
public final class Download: Sendable, Identifiable, Hashable {
    /// The identifier, unique within the list.
    public let id: DownloadID
    package let live: LiveDownload
    let manager: DownloadManager
    var backend: any DownloadBackend { manager.backend }

    init(_ live: LiveDownload, of manager: DownloadManager) {
        id = live.id
        self.live = live
        self.manager = manager
    }

    public static func == (left: Download, right: Download) -> Bool { left.live === right.live }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The request with all changes applied. Secrets that were provided in an earlier process are not included.
    public var request: DownloadRequest { live.request }

    /// The current state, progress and name; cheap enough to read for each table cell.
    public var status: DownloadStatus { live.status }

    // MARK: Actions

    // An action has no effect if the download is already in the state that the action leads to. An action that the state
    // forbids (``DownloadStatus/actions``) throws `wrongState`. An action that the list cannot store throws the store's error
    // and does not take effect, although a cancellation has already deleted the bytes.

    /// Stops the download and keeps the bytes received so far; returns once they are durable. Works even before the first byte.
    ///
    /// Throws `wrongState` if the download is failed, completed or cancelled; `notResumable` if it writes to a stream;
    /// `catalogue` or `diskFull` if the list could not store the pause: then the download continues.
    public func pause() async throws(DownloadError) { try await perform(.pause()) }

    /// Queues a paused or failed download behind the others of its priority; makes a waiting download try again at once. Has no
    /// effect on a running download.
    ///
    /// Resuming a paused download and retrying a waiting one are the same call, because an app has one button for both: the
    /// download continues as soon as the queue permits. It does not overtake other downloads; use ``moveInList(to:)`` for that.
    ///
    /// Throws `wrongState` if the download is completed or cancelled; ``restart()`` downloads such a file again.
    public func resume() async throws(DownloadError) { try await perform(.resume()) }

    /// As ``resume()``, but the download waits for servers that have requested a delay or are down: for retries that no user has
    /// requested.
    package func requeue() async throws(DownloadError) { try await perform(.resume(triesServers: false)) }

    /// Cancels the download, even if it has failed, and deletes its part file and journal.
    ///
    /// Throws `wrongState` if the download is completed; `catalogue` or `diskFull` if the list could not store the
    /// cancellation: then the download is still listed, without its bytes.
    public func cancel() async throws(DownloadError) { try await perform(.cancel) }

    /// Cancels the download, removes it from the list and returns resume data; keeps the part file and the journal. Observers
    /// receive a cancellation, as after ``cancel()``.
    /// Pass the data to ``DownloadManager/download(resumingWith:)`` to continue.
    ///
    /// Throws `notResumable` if nothing can be resumed (the download is cancelled nevertheless), `wrongState` if the download
    /// is completed or cancelled; `catalogue` or `diskFull` if the list could not store the cancellation: then the download
    /// continues or stays as it was.
    public func cancelByProducingResumeData() async throws(DownloadError) -> ResumeData {
        try await backend.cancelProducingResumeData(live)
    }

    /// Downloads the file of a completed or cancelled download again, from the beginning.
    ///
    /// The previously published file is kept until the new one is complete, and is then replaced. If the file at that path is
    /// no longer the published one, the request's conflict rule applies.
    ///
    /// Throws `wrongState` in any other state.
    public func restart() async throws(DownloadError) { try await perform(.restart) }

    /// Removes the download from the list; cancels it first if it has not ended.
    ///
    /// `deletingFile` also deletes a finished file. Throws `conflict`, and changes nothing, if the file at that path
    /// is no longer the published one.
    public func remove(deletingFile: Bool = false) async throws(DownloadError) {
        try await perform(.remove(deletingFiles: deletingFile))
    }

    /// Changes the request; takes effect at once, even while the download is running. If `change` throws, nothing changes.
    ///
    /// ```swift
    /// try await download.change { request throws(DownloadError) in
    ///     request.sources = [try DownloadURL(text)]
    /// }
    /// ```
    ///
    /// These properties can be changed: `sources`, `onConflict`, `headers`, `checksum`, `maxConnections`, `rateLimit`, `maxBytes`,
    /// `network`, `connection`, `stallTimeout`, `minSpeed`, `maxRetries`, `minFreeBytes`, `priority`, `notBefore`, `label`,
    /// `userInfo`, and of `trust` `resumesUnproven`, `allowsDowngrade` and `acceptsHTML`. Use ``provide(credentials:)`` to change
    /// the credentials, and ``moveFiles(to:)-(String)`` to change the directory.
    ///
    /// The server of a new URL must prove that it serves the same file. If it serves a different file, the received bytes are kept
    /// and the download fails with `conflict`. Throws `wrongState` if the download is completed, cancelled or being verified,
    /// `invalidRequest` for values that no request may have, and for a change of any other property.
    public func change(
        _ change: @Sendable (inout DownloadRequest) throws(DownloadError) -> Void
    ) async throws(DownloadError) {
        try await backend.change(live, change)
    }

    /// Supplies credentials for the download's server; resumes the download if it is waiting for them.
    ///
    /// Throws `wrongState` if the download is completed, cancelled or being verified.
    public func provide(credentials: Credentials) async throws(DownloadError) {
        var change = RequestChange()
        change.set(credentials)
        try await perform(.change(change))
    }

    private func perform(_ action: ListAction) async throws(DownloadError) {
        try await backend.perform(action, on: .one(live))
    }

    /// Moves the download within the list, among the downloads of its priority. Throws `notFound` if the download that the
    /// placement refers to is not listed with the same priority.
    public func moveInList(to place: ListPlacement) async throws(DownloadError) {
        try await backend.move(live, to: place)
    }

    /// Moves the download's files to another directory, which is created if needed, and continues there.
    ///
    /// Works in every state; a running download is stopped, and resumed after the move. No file is replaced: if the name is in
    /// use, a number is added. A move to another file system copies, compares and syncs the file before deleting the original.
    /// The old file of a download that is being restarted is not moved; it is deleted once the new file is complete.
    ///
    /// Returns once the move is durable. Throws `disk`, `diskFull`, or `conflict` if the finished file is no longer the
    /// published one; then nothing is moved.
    public func moveFiles(to directory: String) async throws(DownloadError) {
        try await backend.relocate(live, to: DownloadManager.absolute(directory))
    }

    /// Waits until the download completes. Throws its failure, or a ``DownloadError`` with the code `cancelled` or
    /// `shutDown`.
    public func finished() async throws(DownloadError) -> FinishedDownload {
        while true {
            let seen = live.changes.count
            switch live.current {
            case .completed: if let result = live.finished { return result }
            case .failed(let error): throw error
            case .cancelled: throw DownloadError(.cancelled, ErrorPhrase(.wasCancelled, status.name))
            case .waiting, .downloading, .verifying, .paused: break
            }
            if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, status.name)) }
            if live.isClosed {
                throw backend.isShutDown
                    ? DownloadError(.shutDown, ErrorPhrase(.leftAtShutDown, status.name))
                    : DownloadError(.cancelled, ErrorPhrase(.wasCancelled, status.name))
            }
            await live.changes.wait(after: seen)
        }
    }
}

/// Everything that a handle shows at a given moment, for display in another process.
package struct DownloadSnapshot: Sendable {
    /// State and progress.
    package var status: DownloadStatus
    /// The request with all changes applied; may contain secrets.
    package var request: DownloadRequest
    /// The result of a completed download; otherwise `nil`.
    package var finished: FinishedDownload?

    package init(status: DownloadStatus, request: DownloadRequest, finished: FinishedDownload?) {
        self.status = status
        self.request = request
        self.finished = finished
    }
}

extension Download {
    /// The current snapshot.
    package var snapshot: DownloadSnapshot { live.snapshot }
}
