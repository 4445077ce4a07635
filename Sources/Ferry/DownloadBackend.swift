package import FerryCore
package import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The implementation behind a manager: the ``Scheduler`` of this process, or the backend that a ``BackendProvider`` makes.
///
/// There is one ``LiveDownload`` for each download that has a handle, whichever backend updates it. Requests have been checked
/// and have absolute paths. A method that has the same name as a method of ``DownloadManager`` or ``Download`` is documented there.
package protocol DownloadBackend: AnyObject, Sendable {
    // MARK: Opening and closing

    /// The settings in effect.
    var configuration: DownloadManager.Configuration { get }
    func configure<Failure: Error>(
        _ change: @Sendable (inout DownloadManager.Configuration) throws(Failure) -> Void
    ) async throws(Failure)
    func activate() async throws(DownloadError)
    func suspend() async
    /// Refuses new downloads, and returns once no download is running or queued. Returns false if the list cannot be opened, the
    /// backend is shut down, or the task was cancelled.
    func drain() async -> Bool
    func shutdown() async
    /// Whether ``shutdown()`` has begun.
    var isShutDown: Bool { get }
    /// Called when the manager and all its handles have been released.
    func released()

    // MARK: Adding

    /// The default directory for downloads, absolute.
    func directory() async throws(DownloadError) -> String
    /// Adds all requests or none; the results are in the order of the requests.
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload]
    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload
    /// Adds the download of the part file at an absolute path to the list.
    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload
    func plan(_ request: DownloadRequest, testsRanges: Bool) async throws(DownloadError) -> DownloadPlan

    // MARK: Actions

    /// Attempts the action on each download, then throws the first error, if any.
    func perform(_ action: ListAction, on selection: ListSelection) async throws(DownloadError)
    func cancelProducingResumeData(_ live: LiveDownload) async throws(DownloadError) -> ResumeData
    func change(
        _ live: LiveDownload, _ change: @Sendable (inout DownloadRequest) throws(DownloadError) -> Void
    ) async throws(DownloadError)
    func move(_ live: LiveDownload, to place: ListPlacement) async throws(DownloadError)
    /// Returns a reader of a range of the download's file, or of the whole file if the range is `nil`. If a description is given,
    /// the reader reads only that representation.
    func contentReader(
        of download: Download, _ range: Range<ByteCount>?, _ description: DownloadContent.Description?
    ) -> any ContentReader
    /// Moves the download's files to the directory at an absolute path.
    func relocate(_ live: LiveDownload, to directory: String) async throws(DownloadError)

    // MARK: The list

    func downloads(offset: Int, limit: Int) async throws(DownloadError) -> [LiveDownload]
    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload?
    func downloads(of url: DownloadURL) async throws(DownloadError) -> [LiveDownload]
    func count() async throws(DownloadError) -> Int
    func clear(_ filter: ClearFilter, deletingFiles: Bool) async throws(DownloadError)
    func storageReport() async throws(DownloadError) -> StorageReport
    /// The changes of the list, and the events of its downloads.
    var log: UpdateLog { get }

    // MARK: Events

    /// Subscribes to all events. The unacknowledged ends of downloads from earlier processes come first, followed by a marker.
    func listen() -> EventHub.Place
    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent]
    /// Running downloads that have reported their start, so that progress may be reported.
    var moving: Set<DownloadID> { get }
    /// The objects of downloads that are running or have handles.
    var registry: LiveRegistry { get }
    /// Sets the dispatcher that receives progress; held weakly.
    func set(dispatcher: DelegateDispatcher?)
    /// Starts reporting progress while downloads run; called when observation begins.
    func startHeartbeat()
    /// The clock of the downloads.
    var clock: any EngineClock { get }

    // MARK: The network

    var network: NetworkStatus { get }
    var networkChanges: AsyncStream<NetworkStatus> { get }
}

/// Makes the backend of a manager whose downloads another process runs.
package struct BackendProvider: Sendable {
    /// The name of the session.
    package let identifier: String
    let make: @Sendable (DownloadManager.Configuration, any EngineClock) -> any DownloadBackend

    /// - Parameter make: Makes the backend, which must not open anything yet.
    package init(
        identifier: String,
        _ make: @escaping @Sendable (DownloadManager.Configuration, any EngineClock) -> any DownloadBackend
    ) {
        self.identifier = identifier
        self.make = make
    }
}

extension DownloadBackend {
    /// The object of a download that is running or has a handle.
    package func known(_ id: DownloadID) -> LiveDownload? { registry[id] }

    /// The download that has left the list but still has a handle.
    func gone(_ id: DownloadID) -> LiveDownload? { registry.removed(id) }

    /// All events, beginning with the unacknowledged ends of downloads from earlier processes.
    var events: AsyncStream<DownloadEvent> { stream(listen()) }

    /// The events of a listener. The path of a completed file is updated when its event is delivered. The stream does not retain
    /// the backend.
    func stream(_ place: EventHub.Place) -> AsyncStream<DownloadEvent> {
        AsyncStream { [weak self] in
            guard let event = await place.mailbox.nextEvent() else { return nil }
            return self?.located(event) ?? event
        }
    }

    /// The event, with the current path if the completed file was moved while the event waited.
    private func located(_ event: DownloadEvent) -> DownloadEvent {
        guard case .completed(let told) = event.kind, let live = known(event.id) else { return event }
        var event = event
        event.kind = .completed(live.located(told))
        return event
    }
}
