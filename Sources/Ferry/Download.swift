public import FerryCore
import FerryEngine
public import Foundation

/// A handle to one download; it stays valid whatever becomes of the download, and keeps its manager alive.
///
/// Two handles of the same download are equal. What is done with one download happens in the order of asking.
public final class Download: Sendable, Identifiable, Hashable {
    public let id: DownloadID
    let live: LiveDownload
    let manager: DownloadManager
    var backend: any DownloadBackend { manager.backend }

    init(_ live: LiveDownload, of manager: DownloadManager) {
        id = live.id
        self.live = live
        self.manager = manager
    }

    public static func == (left: Download, right: Download) -> Bool { left.live === right.live }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// What was asked for, with the changes since; without the secrets of an earlier run.
    public var request: DownloadRequest { live.request }

    /// Where it stands now; cheap, for a table cell.
    public var status: DownloadStatus { live.status }

    // MARK: Doing

    /// Stops it and keeps what is there; returns when that is safe on the disk.
    ///
    /// Works before the first byte too. Returns false, and changes nothing, when it is paused already or has ended.
    @discardableResult
    public func pause() async -> Bool { await backend.pause(live) }

    /// Lets a paused or failed download go on, behind the others of its priority; one that waits tries now.
    ///
    /// Returns false, and changes nothing, when it runs or has ended otherwise.
    @discardableResult
    public func resume() async -> Bool { await backend.resume(live) }

    /// Ends it and deletes its part file and journal. Returns false, and changes nothing, when it has ended.
    @discardableResult
    public func cancel() async -> Bool { await backend.cancel(live) }

    /// What ``cancel(keeping:)`` keeps.
    public enum Keeping: Sendable, Hashable {
        /// The part file, its journal, and what leads back to them.
        case resumeData
    }

    /// Takes it off the list and keeps part file and journal; ``DownloadManager/download(resumingWith:)`` goes on.
    ///
    /// Throws `notResumable` when nothing is worth keeping (it is cancelled all the same), `wrongState` when it has
    /// ended.
    public func cancel(keeping: Keeping) async throws(DownloadError) -> ResumeData {
        try await backend.cancelProducingResumeData(live)
    }

    /// Fetches a completed or cancelled one again, from the beginning.
    ///
    /// The file that it published before stays untouched until the new one is complete, which then takes its place.
    /// Where it is not the one that was published any more, the request's conflict rule holds.
    ///
    /// Returns false, and changes nothing, in every other state.
    @discardableResult
    public func restart() async -> Bool { await backend.restart(live) }

    /// Takes it off the list, cancelling it first when it has not ended.
    ///
    /// `deletingFile` deletes a finished file too; throws `conflict`, and changes nothing, when it is not the one that was
    /// published any more.
    public func remove(deletingFile: Bool = false) async throws(DownloadError) {
        try await backend.remove(live, deletingFile: deletingFile)
    }

    /// Changes URL, limits, network rule, priority or texts at once, also while it runs.
    ///
    /// A new URL must prove that it has the same file; proven different, what is held stays and the download fails with
    /// `conflict`. Throws `wrongState` when it has ended, or is being verified.
    public func change(_ change: @Sendable (inout DownloadChange) -> Void) async throws(DownloadError) {
        try await backend.change(live, change)
    }

    /// Gives what the server asked for, and lets it go on.
    public func provide(credentials: Credentials) async throws(DownloadError) {
        try await backend.provide(credentials, to: live)
    }

    /// Moves it within the list, among those of its priority.
    public func move(to place: ListPlacement) async throws(DownloadError) { try await backend.move(live, to: place) }

    /// Moves its files to another directory, where it goes on, and where it will be; made when it is not there.
    ///
    /// Works in every state: one that runs is stopped for it and goes on after. Nothing is replaced: where the name is taken,
    /// it is numbered. To another file system it is copied, compared and made durable before it goes here. Returns when all
    /// of that is durable. Throws `disk`, `diskFull`, `conflict` when the finished file is not the one that was published
    /// any more; then nothing was moved.
    public func relocate(to directory: URL) async throws(DownloadError) {
        try await backend.relocate(live, to: DownloadManager.absolute(directory.path))
    }

    /// Waits for the end. Throws the failure, or a ``DownloadError`` with the code `cancelled` or `shutDown`.
    public func finished() async throws(DownloadError) -> FinishedDownload {
        while true {
            switch live.current {
            case .completed: if let result = live.finished { return result }
            case .failed(let error): throw error
            case .cancelled: throw DownloadError(.cancelled, ErrorPhrase(.wasCancelled, status.name))
            case .waiting, .downloading, .verifying, .paused: break
            }
            if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, status.name)) }
            if live.isClosed {
                throw DownloadError(.shutDown, ErrorPhrase(.leftAtShutDown, status.name))
            }
            await live.change()
        }
    }
}

/// A place in the list of downloads, among those of the same priority.
public enum ListPlacement: Sendable, Hashable {
    case first
    case last
    case before(DownloadID)
    case after(DownloadID)
}
