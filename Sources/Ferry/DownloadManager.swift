public import FerryCore
package import FerryEngine
import Synchronization
import SystemPackage

/// Runs downloads: at most ``Configuration/maxConcurrentDownloads`` at a time, while the others wait in a queue.
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
    /// The implementation: the ``Scheduler`` of this process, or a session in another process.
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
            let settings = configuration.networkSettings
            let monitor = monitor ?? configuration.monitor?(settings) ?? SystemNetworkMonitor(settings)
            let scheduler = Scheduler(
                configuration: configuration, engine: engine, monitor: monitor, system: system)
            BackgroundManagers.register(scheduler)
            backend = scheduler
        }
    }

    deinit { backend.released() }

    // MARK: Opening and closing

    /// Opens the catalogue and resumes running and queued downloads; idempotent.
    ///
    /// Also ends a suspension: call it when the app enters the foreground. Data that the system has fetched meanwhile is used.
    /// Transfers that are nearly done get up to half a minute to finish; the others are taken back from the system.
    ///
    /// Throws `catalogue` if the catalogue is open in another process or cannot be used, `shutDown` after ``shutdown()``.
    public func activate() async throws(DownloadError) { try await backend.activate() }

    /// Prepares for the suspension of the app: call it when the app enters the background. Asks the system not to suspend the
    /// process until this method returns. ``activate()`` ends the suspension.
    ///
    /// Stops all running downloads except those into a stream, makes their bytes durable, and releases all file locks, so that
    /// the system does not terminate the app for holding one. With ``Configuration/continuingInBackground(_:)``, hands the
    /// missing bytes over to the system; an event of each download that cannot be handed over states the reason. Until the next
    /// ``activate()``, termination of the process does not count as a crash.
    ///
    /// Handles and sequences stay valid. Other calls throw `wrongState` meanwhile. Has no effect on a manager whose downloads
    /// run in the daemon, where they continue.
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

    /// Stops all downloads, makes their bytes durable and releases all resources. Calls that wait for a download throw
    /// `shutDown`. The end of a download that no listener has received by then is delivered when the identifier is opened
    /// again. If called inside a delegate method, acknowledges the event of that method.
    ///
    /// States are kept: running and queued downloads resume when the same identifier is opened again, in this process
    /// or another.
    public func shutdown() async {
        // Acknowledgements are stored only until the list is closed.
        dispatcher.withLock { $0 }?.acknowledgeCurrentCall()
        await backend.shutdown()
        dispatcher.withLock { $0 }?.stop()
    }

    /// Refuses new downloads, waits until all running and queued downloads have ended and the delegate has received their
    /// events, then shuts down.
    ///
    /// Opens the list if needed, because downloads of earlier launches are included. Paused downloads, and downloads that wait
    /// for a link or credentials, are not changed. If this method is awaited inside a delegate method, it acknowledges the event of
    /// that delegate method, and does not wait for later delegate calls. If the task is cancelled, the manager shuts down without
    /// waiting.
    public func finishAndShutDown() async {
        if await backend.drain() { await dispatcher.withLock { $0 }?.finish() }
        await shutdown()
    }

    // MARK: Adding

    /// Adds a download; it runs as soon as a slot is free.
    ///
    /// Throws errors that can be detected before the transfer: no URL, a directory that is not writable, limits below 1, texts
    /// that are too long, `duplicate` under ``DuplicateRule/fail``. In these cases nothing is added to the list.
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

    /// Adds a download from one URL into a directory; by default the manager's directory, or the working directory if the
    /// manager has none.
    public func download(from url: DownloadURL, into directory: String? = nil) async throws(DownloadError) -> Download {
        let place: String
        if let directory { place = directory } else { place = try await backend.directory() }
        return try await download(DownloadRequest(sources: [url], destination: .directory(place)))
    }

    /// Continues a download from the resume data of ``Download/cancelByProducingResumeData()``, with the limits and rules of its
    /// request. Credentials, headers, cookies, proxy, certificates and permissions do not apply again: set them with
    /// ``Download/change(_:)`` and ``Download/provide(credentials:)``. `docs/resume-data.md` lists all properties.
    ///
    /// Throws `notResumable` if the data has already been used, is damaged, or belongs to another file. If the part file is
    /// missing, the download starts over and reports this in an event, provided that the session has used the directory;
    /// otherwise `notResumable` is thrown.
    public func download(resumingWith data: ResumeData) async throws(DownloadError) -> Download {
        handle(try await backend.add(resumingWith: data))
    }

    /// Adds the download of a part file or journal to the list, under the identifier in the journal, and starts it. Both files
    /// must belong to this user and not be writable by other users. Trust and network rules in the journal apply only where they
    /// are stricter than the defaults.
    ///
    /// If the download is already listed, returns it.
    public func adopt(_ path: String) async throws(DownloadError) -> Download {
        handle(try await backend.adopt(Self.absolute(path)))
    }

    // MARK: The list

    /// All downloads in the order of the list: higher priorities first, then by position. Includes ended downloads until they are
    /// removed.
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

    /// The number of listed downloads by state; states without downloads are omitted.
    ///
    /// Throws `catalogue` if the list cannot be read, and `invalidRequest` if the downloads run in the daemon.
    public func countsByState() async throws(DownloadError) -> [StateKind: Int] {
        try await totals(session: nil).counts
    }

    /// The servers with open connections or running downloads, the busiest first; empty if the downloads run in the daemon.
    public var busyHosts: [BusyHost] { scheduler?.busyHosts ?? [] }

    /// Changes of the list from now on; ends with ``shutdown()``. Does not retain the manager.
    public var listChanges: ListChanges { backend.log.changes() }

    /// Pauses all downloads that have not ended, except those that write to a stream. Tries to pause every download, then throws
    /// the first error, if any.
    public func pauseAll() async throws(DownloadError) { try await backend.perform(.pause(), on: .all) }

    /// Resumes all paused downloads, and retries failed downloads and those that wait for their next attempt, their server, free
    /// space, a new link or credentials, in the order of the list.
    public func resumeAll() async throws(DownloadError) { try await backend.perform(.resume(), on: .all) }

    /// Removes ended downloads from the list and, with `deletingFiles`, deletes their files, except files that are no longer
    /// the published ones. Never deletes a directory or a file that the list does not name.
    public func clear(_ filter: ClearFilter, deletingFiles: Bool = false) async throws(DownloadError) {
        try await backend.clear(filter, deletingFiles: deletingFiles)
    }

    /// The disk space that the downloads use.
    public func storage() async throws(DownloadError) -> StorageReport { try await backend.storageReport() }

    // MARK: Events

    /// Events of all downloads, in order, beginning with the unacknowledged ends of downloads from earlier launches. If a slow
    /// reader has more than 10,000 pending events, only ends of downloads are kept.
    ///
    /// Ends with ``shutdown()``. Does not retain the manager.
    public var events: AsyncStream<DownloadEvent> { backend.events }

    /// The 50 latest events of a download with their reasons, oldest first.
    public func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try await backend.history(of: id)
    }

    /// The delegate, held weakly; `nil` if none is set.
    public var delegate: (any DownloadManagerDelegate)? { dispatcher.withLock { $0 }?.delegate }

    /// Sets the delegate, whose methods are called on the main actor; `nil` removes it. If called inside a method of the previous
    /// delegate, acknowledges the event of that method.
    public func setDelegate(_ delegate: (any DownloadManagerDelegate)?) {
        // The method's task is cancelled below. The event must not be in the backlog of the new delegate.
        dispatcher.withLock { $0 }?.acknowledgeCurrentCall()
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

    /// The current network status; `.online` until the first check. The first check runs when the list is opened; with
    /// `.ephemeral`, on the first use of this property or ``networkChanges``, when a rule forbids a network, or when an attempt
    /// has failed.
    public var network: NetworkStatus { backend.network }

    /// The current network status, then every change; ends with ``shutdown()``.
    public var networkChanges: AsyncStream<NetworkStatus> { backend.networkChanges }

    // MARK: Without a download

    /// The paths of the part files in a directory that have a journal, sorted; each can be resumed with
    /// ``DownloadRequest/Destination/part(_:)``. Journals of other users are omitted.
    public func partFiles(in directory: String) async throws(DownloadError) -> [String] {
        try await allPartFiles(in: directory).own
    }

    /// Like ``partFiles(in:)``, but also returns an explanation for each omitted file.
    package func allPartFiles(
        in directory: String
    ) async throws(DownloadError) -> (own: [String], refused: [DownloadError], halves: [ErrorPhrase]) {
        let directory = Self.absolute(directory)
        return try await EngineProvider.files.run { disk throws(DownloadError) in
            try PartFiles.list(in: directory, fileSystem: disk.fileSystem)
        }
    }

    /// The servers in the journal of a part file, or in all journals of a directory; unreadable journals are omitted.
    /// Blocks; call it on a file thread.
    package static func journalOrigins(at path: String) -> Set<Origin> {
        var origins: Set<Origin> = []
        func add(_ found: PartFiles.Found) {
            for url in found.record.urls { if let url = try? DownloadURL(url) { origins.insert(url.origin) } }
        }
        // allow(single-place): the caller, which plans a command, is synchronous and runs on a file thread.
        let disk = LocalFileSystem()
        if PartFiles.all(in: path, fileSystem: disk, add).isEmpty,
            let found = try? PartFiles.find(at: path, fileSystem: disk)
        {
            add(found)
        }
        return origins
    }

    /// Whether the file was downloaded from this URL and its length and modification time have not changed since, according to
    /// its extended attribute. Blocks; call it on a file thread.
    package static func hasDownloaded(_ path: String, from url: String) -> Bool {
        // allow(single-place): the caller, which plans a command, is synchronous and runs on a file thread.
        guard let file = try? LocalFileSystem().openOurs(FilePath(path), .readOnly, for: .content) else { return false }
        defer { file.close() }
        guard let status = try? file.status() else { return false }
        return SourceAttribute.read(file)?.matches(url: url, status) ?? false
    }

    /// Requests the file's size, name and resumability from the server; writes nothing.
    ///
    /// Throws `cancelled` if the task is cancelled.
    public func plan(_ request: DownloadRequest) async throws(DownloadError) -> DownloadPlan {
        try await plan(request, testsRanges: true)
    }

    /// - Parameter testsRanges: Whether a second request, for a range, is sent to the server.
    package func plan(_ request: DownloadRequest, testsRanges: Bool) async throws(DownloadError) -> DownloadPlan {
        let request = try request.checked()
        do throws(DownloadError) { return try await backend.plan(request, testsRanges: testsRanges) } catch {
            guard Task.isCancelled, error.code == .cancelled else { throw error }
            // The transport does not know what it was stopped for.
            throw DownloadError(.cancelled, ErrorPhrase(.waitWasCancelled, request.firstName))
        }
    }

    // MARK: Handles

    func handle(_ live: LiveDownload) -> Download { live.handle { Download(live, of: self) } }

    /// The handle of an event's download. If the download has left the list, returns the app's existing handle or a handle that
    /// shows only the end; `nil` if the event is not an end.
    func handle(for event: DownloadEvent) async throws(DownloadError) -> Download? {
        let listed = try await backend.download(event.id)
        return (listed ?? backend.gone(event.id) ?? LiveDownload(ended: event)).map(handle)
    }

    /// The absolute path; a relative path is resolved against the working directory.
    package static func absolute(_ path: String) -> String {
        Paths.join(WorkingDirectory.path, path)
    }

    /// The absolute path, normalized like the paths of requests, so that it can be compared with the paths of finished files.
    static func normalized(_ path: String) -> String { Paths.normalized(absolute(path)) }
}
