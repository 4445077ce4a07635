import FerryCore
import FerryEngine
import Foundation

/// Who does what a manager is asked: the ``Scheduler`` of this process, or a session of the daemon.
///
/// A manager and its handles know nothing else of it. Whoever feeds them, there is one ``LiveDownload`` for each
/// download that somebody holds. Requests come checked, with absolute paths. Whatever is documented of a method of
/// ``DownloadManager`` and ``Download`` holds for its namesake here.
protocol DownloadBackend: AnyObject, Sendable {
    // MARK: Opening and closing

    /// The settings that count now.
    var configuration: DownloadManager.Configuration { get }
    func configure(_ change: @Sendable (inout DownloadManager.Configuration) -> Void) async
    func activate() async throws(DownloadError)
    /// Takes nothing new, and returns when nothing runs or waits for its turn. False when that cannot be waited for: the
    /// list cannot be opened, it is shut down, the task was cancelled.
    func drain() async -> Bool
    func shutdown() async
    /// The manager and all its downloads are gone.
    func letGo()

    // MARK: Adding

    /// Where downloads go by default, absolute.
    func directory() async throws(DownloadError) -> String
    /// Adds all of them, or none; the answers are in the order of the requests.
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload]
    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload
    /// Lists what the part file at an absolute path holds.
    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload
    func plan(_ request: DownloadRequest) async throws(DownloadError) -> DownloadPlan

    // MARK: One download

    func pause(_ live: LiveDownload) async -> Bool
    func resume(_ live: LiveDownload) async -> Bool
    func restart(_ live: LiveDownload) async -> Bool
    func cancel(_ live: LiveDownload) async -> Bool
    func cancelProducingResumeData(_ live: LiveDownload) async throws(DownloadError) -> ResumeData
    func remove(_ live: LiveDownload, deletingFile: Bool) async throws(DownloadError)
    func change(
        _ live: LiveDownload, _ change: @Sendable (inout DownloadChange) -> Void
    ) async throws(DownloadError)
    func provide(_ credentials: Credentials, to live: LiveDownload) async throws(DownloadError)
    func move(_ live: LiveDownload, to place: ListPlacement) async throws(DownloadError)
    /// Moves what it has to a directory, absolute.
    func relocate(_ live: LiveDownload, to directory: String) async throws(DownloadError)

    // MARK: The list

    func downloads(offset: Int, limit: Int) async throws(DownloadError) -> [LiveDownload]
    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload?
    func downloads(of url: DownloadURL) async throws(DownloadError) -> [LiveDownload]
    func count() async throws(DownloadError) -> Int
    func pauseAll() async throws(DownloadError)
    func resumeAll() async throws(DownloadError)
    func clear(_ filter: ClearFilter, deletingFiles: Bool) async throws(DownloadError)
    func storageReport() async throws(DownloadError) -> StorageReport
    var listChanges: ListChanges { get }

    // MARK: Following

    /// Everything that happens, first what ended earlier and was not handled.
    var events: AsyncStream<DownloadEvent> { get }
    /// As ``events``, with a mark where all that ended earlier has been told.
    func listen() -> EventHub.Place
    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent]
    /// Those that run and have begun: progress of them may be told.
    var moving: Set<DownloadID> { get }
    /// The object of a download that runs, or that somebody holds.
    func known(_ id: DownloadID) -> LiveDownload?
    /// The download that has left the list, while somebody holds it.
    func gone(_ id: DownloadID) -> LiveDownload?
    /// Who is told of progress; held weakly.
    func set(dispatcher: DelegateDispatcher?)
    /// Somebody observes: progress is told from now on, while something runs.
    func startPulse()
    /// The time.
    func date() -> Date

    // MARK: The network

    var network: NetworkStatus { get }
    var networkChanges: AsyncStream<NetworkStatus> { get }
}

extension DownloadBackend {
    /// The events of a place, as they are when somebody takes them; does not keep the backend alive.
    func stream(_ place: EventHub.Place) -> AsyncStream<DownloadEvent> {
        AsyncStream { [weak self] in
            guard let event = await place.mailbox.nextEvent() else { return nil }
            return self?.located(event) ?? event
        }
    }

    /// The event, with a file that was moved while it waited named where it is now.
    private func located(_ event: DownloadEvent) -> DownloadEvent {
        guard case .completed(let told) = event.kind, let live = known(event.id) else { return event }
        var event = event
        event.kind = .completed(live.located(told))
        return event
    }
}
