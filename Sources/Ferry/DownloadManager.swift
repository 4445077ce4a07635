public import FerryCore
package import FerryEngine
import Synchronization
import SystemPackage

/// Runs downloads: at most ``Configuration/maxConcurrentDownloads`` at a time, the others wait in a queue.
///
/// ```swift
/// extension DownloadManager {
///     static let shared = DownloadManager(.default(identifier: "com.example.app", directory: downloads))
/// }
/// let download = try await DownloadManager.shared.download(from: url)
/// let file = try await download.finished().path
/// ```
///
/// The initializer opens nothing. The first use, or ``activate()``, opens the catalogue and resumes the downloads
/// that were running or queued when the process ended. The manager shuts down when the last reference to it and its
/// downloads is released.
public final class DownloadManager: Sendable {
    /// The implementation: the ``Scheduler`` of this process, or a session of another one.
    let backend: any DownloadBackend
    /// The queue, if the downloads run in this process.
    var scheduler: Scheduler? { backend as? Scheduler }
    private let dispatcher = Mutex<DelegateDispatcher?>(nil)
    private let places = WritableDirectories()

    /// Creates a manager; opens nothing yet.
    public convenience init(_ configuration: Configuration) {
        self.init(
            configuration, engine: configuration.engine ?? EngineProvider(),
            system: BackgroundSession.make(for: configuration))
    }

    package init(
        _ configuration: Configuration, engine: EngineProvider, monitor: (any NetworkMonitor)? = nil,
        system: @escaping @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? = { _ in nil }
    ) {
        if case .elsewhere(let provider) = configuration.storage {
            backend = provider.make(configuration, engine.clock)
        } else {
            let scheduler = Scheduler(
                configuration: configuration, engine: engine,
                monitor: monitor ?? SystemNetworkMonitor(configuration.networkSettings), system: system)
            BackgroundManagers.register(scheduler)
            backend = scheduler
        }
    }

    deinit { backend.released() }

    // MARK: Opening and closing

    /// Opens the catalogue and resumes running and queued downloads; idempotent.
    ///
    /// Also ends a suspension: call it when the app comes to the foreground. What the system has fetched meanwhile is used,
    /// and what it has not nearly fetched is taken back; downloads wait up to half a minute for the rest.
    ///
    /// Throws `catalogue` if another process has it open or it cannot be used, `shutDown` after ``shutdown()``.
    public func activate() async throws(DownloadError) { try await backend.activate() }

    /// Prepares for the suspension of the app: call it when the app goes to the background. Asks the system not to suspend
    /// the process meanwhile. ``activate()`` ends the suspension.
    ///
    /// Stops all running downloads except those to a stream, makes their bytes durable, hands what is missing over to the
    /// system if the configuration says so (``Configuration/continuingInBackground(_:)``), and releases all locks on
    /// files, so that the system does not end the app for holding one. A download that stays with the app says why in an
    /// event. The end of the process is no crash of a download until the next ``activate()``.
    ///
    /// Handles and sequences stay valid. Other calls throw `wrongState` meanwhile. Has no effect on a manager whose
    /// downloads run in the daemon, where they go on.
    public func suspend() async { await backend.suspend() }

    /// Changes limits and rules with immediate effect, and connection settings from the next connection on; concurrent
    /// calls are serialized. `change` may read the manager; if it throws, nothing changes.
    public func configure<Failure: Error>(
        _ change: @Sendable (inout Configuration) throws(Failure) -> Void
    ) async throws(Failure) {
        try await backend.configure(change)
    }

    /// The settings in effect.
    public var configuration: Configuration { backend.configuration }

    /// Stops all downloads, makes their bytes durable and releases all resources. Handles end with `shutDown`. An end
    /// that no listener has received by then is delivered when the identifier is opened again.
    ///
    /// States are kept: running and queued downloads resume when the same identifier is opened again, in this process
    /// or another.
    public func shutdown() async {
        await backend.shutdown()
        dispatcher.withLock { $0 }?.stop()
    }

    /// Refuses new downloads, waits until all running and queued ones have ended and the delegate has received their
    /// events, then shuts down.
    ///
    /// Opens the list if needed, since downloads that were running or queued earlier are included. Paused downloads,
    /// and those that wait for a link or credentials, are left as they are. Awaited inside a delegate method, does
    /// not wait for later delegate calls, and acknowledges that method's event. After the task is cancelled, shuts
    /// down without waiting.
    public func finishAndShutDown() async {
        if await backend.drain() { await dispatcher.withLock { $0 }?.finish() }
        await shutdown()
    }

    // MARK: Adding

    /// Adds a download; it runs as soon as a slot is free.
    ///
    /// Throws errors that can be detected before the transfer: no URL, a directory that is not writable, limits below 1,
    /// texts that are too long, `duplicate` under ``DuplicateRule/fail``. Nothing is listed then.
    public func download(_ request: DownloadRequest) async throws(DownloadError) -> Download {
        try await download([request])[0]
    }

    /// Adds several downloads, all or none; the results are in the order of the requests.
    public func download(_ requests: [DownloadRequest]) async throws(DownloadError) -> [Download] {
        try await backend.add(checked(requests)).map(handle)
    }

    /// The validated requests, with absolute paths. Throws errors that can be detected before the transfer.
    func checked(_ requests: [DownloadRequest]) async throws(DownloadError) -> [DownloadRequest] {
        var checked: [DownloadRequest] = []
        checked.reserveCapacity(requests.count)
        for request in requests { checked.append(try request.checked()) }
        try await places.check(checked.map(\.destination))
        return checked
    }

    /// Adds a download from one URL into a directory; by default the manager's, without one the working directory.
    public func download(from url: DownloadURL, into directory: String? = nil) async throws(DownloadError) -> Download {
        let place: String
        if let directory { place = directory } else { place = try await backend.directory() }
        return try await download(DownloadRequest(sources: [url], destination: .directory(place)))
    }

    /// Continues a download from the resume data of ``Download/cancelByProducingResumeData()``.
    ///
    /// Throws `notResumable` if the data was used already, is damaged, or belongs to another file. If the part file
    /// is gone, restarts from zero and reports that as an event, provided that the session has used the directory;
    /// otherwise throws `notResumable` too.
    public func download(resumingWith data: ResumeData) async throws(DownloadError) -> Download {
        handle(try await backend.add(resumingWith: data))
    }

    /// Lists and starts the download of a part file or journal, under the identifier in the journal. Both files must
    /// belong to this user alone. Of the journal's trust and network rules, only restrictions apply.
    ///
    /// Returns the listed download if it is listed already.
    public func adopt(_ path: String) async throws(DownloadError) -> Download {
        handle(try await backend.adopt(Self.absolute(path)))
    }

    // MARK: The list

    /// All downloads in the order of the list: higher priority first, then position. Includes ended downloads until
    /// they are removed.
    ///
    /// - Parameters:
    ///   - offset: Number of downloads to skip.
    ///   - limit: Maximum number of downloads to return; by default all.
    public func downloads(offset: Int = 0, limit: Int = .max) async throws(DownloadError) -> [Download] {
        try await backend.downloads(offset: max(0, offset), limit: max(0, limit)).map(handle)
    }

    /// The listed download with this identifier.
    public func download(id: DownloadID) async throws(DownloadError) -> Download? {
        try await backend.download(id).map(handle)
    }

    /// The listed downloads whose first source is this URL, in the order of the list.
    public func downloads(url: DownloadURL) async throws(DownloadError) -> [Download] {
        try await backend.downloads(of: url).map(handle)
    }

    /// The number of listed downloads.
    public var downloadCount: Int {
        get async throws(DownloadError) { try await backend.count() }
    }

    /// The number of listed downloads by state; states without downloads are missing.
    ///
    /// Throws `catalogue` if the list cannot be read, and `invalidRequest` if the downloads run in the daemon.
    public func countsByState() async throws(DownloadError) -> [StateKind: Int] {
        try await totals(session: nil).counts
    }

    /// The servers with open connections or running downloads, the busiest first; none if the downloads run in the
    /// daemon.
    public var busyHosts: [BusyHost] { scheduler?.busyHosts ?? [] }

    /// Changes of the list from now on; ends with ``shutdown()``. Does not retain the manager.
    public var listChanges: ListChanges { backend.log.changes() }

    /// Pauses all downloads that have not ended, except those that write to a stream. Throws the first error after an
    /// attempt to pause each.
    public func pauseAll() async throws(DownloadError) { try await backend.perform(.pause(), on: .all) }

    /// Resumes all paused downloads, and tries again those that have failed and those that wait for a new link or
    /// credentials, in the order of the list.
    public func resumeAll() async throws(DownloadError) { try await backend.perform(.resume, on: .all) }

    /// Removes ended downloads from the list and, with `deletingFiles`, deletes their files; files that are no longer
    /// the published ones stay. Never deletes a directory or a file that the list does not name.
    public func clear(_ filter: ClearFilter, deletingFiles: Bool = false) async throws(DownloadError) {
        try await backend.clear(filter, deletingFiles: deletingFiles)
    }

    /// The disk space that the downloads use.
    public func storage() async throws(DownloadError) -> StorageReport { try await backend.storageReport() }

    // MARK: Events

    /// Events of all downloads, in order, beginning with unacknowledged ends of earlier runs. For a slow reader, only
    /// ends are kept beyond 10,000 pending events.
    ///
    /// Ends with ``shutdown()``. Does not retain the manager.
    public var events: AsyncStream<DownloadEvent> { backend.events }

    /// The 50 newest events of a download with their reasons, oldest first.
    public func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try await backend.history(of: id)
    }

    /// The delegate, held weakly; `nil` if none is set.
    public var delegate: (any DownloadManagerDelegate)? { dispatcher.withLock { $0 }?.delegate }

    /// Sets the delegate, whose methods are called on the main actor; `nil` removes it.
    public func setDelegate(_ delegate: (any DownloadManagerDelegate)?) {
        let new = delegate.map {
            let place = backend.listen()
            return DelegateDispatcher($0, of: self, place, moving: backend.moving)
        }
        let old = dispatcher.withLock { current in
            defer { current = new }
            return current
        }
        old?.stop()
        backend.set(dispatcher: new)
        new?.start()
    }

    // MARK: The network

    /// The current network status; `.online` until the first check. The check runs when the list is opened; with
    /// `.ephemeral`, on the first use of this property or ``networkChanges``, when a rule forbids a network, or when
    /// an attempt has failed.
    public var network: NetworkStatus { backend.network }

    /// The current network status and every change of it; ends with ``shutdown()``.
    public var networkChanges: AsyncStream<NetworkStatus> { backend.networkChanges }

    // MARK: Without a download

    /// The part files that have a journal in a directory, as sorted paths; each can be resumed with
    /// ``DownloadRequest/Destination/part(_:)``. Journals of other users are omitted.
    public func partFiles(in directory: String) async throws(DownloadError) -> [String] {
        try await allPartFiles(in: directory).own
    }

    /// As ``partFiles(in:)``, with an explanation for each omitted file.
    package func allPartFiles(
        in directory: String
    ) async throws(DownloadError) -> (own: [String], refused: [DownloadError], halves: [ErrorPhrase]) {
        let directory = Self.absolute(directory)
        return try await EngineProvider.files.run { disk throws(DownloadError) in
            try PartFiles.list(in: directory, fileSystem: disk.fileSystem)
        }
    }

    /// The servers in the journal of a part file, or in all journals of a directory; unreadable journals are omitted.
    /// Blocks: called on a file thread.
    package static func journalOrigins(at path: String) -> Set<Origin> {
        var origins: Set<Origin> = []
        func add(_ found: PartFiles.Found) {
            for url in found.record.urls { if let url = try? DownloadURL(url) { origins.insert(url.origin) } }
        }
        // allow(single-place): the planner of a command calls it, which is synchronous and runs on a file thread.
        let disk = LocalFileSystem()
        if PartFiles.all(in: path, fileSystem: disk, add).isEmpty,
            let found = try? PartFiles.find(at: path, fileSystem: disk)
        {
            add(found)
        }
        return origins
    }

    /// Whether the file was downloaded from this URL, and its length and time are unchanged since, according to its
    /// attribute. Blocks: called on a file thread.
    package static func hasDownloaded(_ path: String, from url: String) -> Bool {
        // allow(single-place): the planner of a command calls it, which is synchronous and runs on a file thread.
        guard let file = try? LocalFileSystem().openOurs(FilePath(path), .readOnly, for: .content) else { return false }
        defer { file.close() }
        guard let status = try? file.status() else { return false }
        return SourceAttribute.read(file)?.matches(url: url, status) ?? false
    }

    /// Requests the file's size, name and resumability from the server; writes nothing.
    public func plan(_ request: DownloadRequest) async throws(DownloadError) -> DownloadPlan {
        try await plan(request, testsRanges: true)
    }

    /// - Parameter testsRanges: Whether the server is asked a second time, for a range.
    package func plan(_ request: DownloadRequest, testsRanges: Bool) async throws(DownloadError) -> DownloadPlan {
        try await backend.plan(request.checked(), testsRanges: testsRanges)
    }

    // MARK: Handles

    func handle(_ live: LiveDownload) -> Download { live.handle { Download(live, of: self) } }

    /// The handle of an event's download. If the download has left the list, the app's existing handle or one that
    /// shows only the end; `nil` if it has left and the event is not an end.
    func handle(for event: DownloadEvent) async throws(DownloadError) -> Download? {
        let listed = try await backend.download(event.id)
        return (listed ?? backend.gone(event.id) ?? LiveDownload(ended: event)).map(handle)
    }

    /// The path, absolute: a relative one is below the working directory.
    package static func absolute(_ path: String) -> String {
        Paths.join(WorkingDirectory.path, path)
    }
}
