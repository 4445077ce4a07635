public import FerryCore
import FerryEngine
public import Foundation
import Synchronization

/// Runs downloads: at most ``Configuration/maxConcurrentDownloads`` at a time, the rest waits its turn.
///
/// ```swift
/// extension DownloadManager {
///     static let shared = DownloadManager(.default(identifier: "com.example.app", directory: downloads))
/// }
/// let download = try await DownloadManager.shared.download(from: url)
/// let file = try await download.finished().file
/// ```
///
/// Nothing is opened when it is made: the catalogue is with the first use, or with ``activate()``, and what ran or waited
/// when the process ended goes on then. When the last reference to a manager and its downloads goes, it shuts down.
public final class DownloadManager: Sendable {
    /// Who does it.
    let backend: any DownloadBackend
    /// The queue, of a manager whose downloads run in this process.
    var scheduler: Scheduler? { backend as? Scheduler }
    private let dispatcher = Mutex<DelegateDispatcher?>(nil)
    private let places = WritableDirectories()

    /// A manager with this configuration; opens nothing yet.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, engine: EngineProvider())
    }

    package init(
        _ configuration: Configuration, engine: EngineProvider, monitor: (any NetworkMonitor)? = nil
    ) {
        if case .daemon(let place) = configuration.storage {
            backend = RemoteSession(place, configuration, clock: engine.clock)
        } else {
            backend = Scheduler(
                configuration: configuration, engine: engine,
                monitor: monitor ?? SystemNetworkMonitor(configuration.networkSettings))
        }
    }

    deinit { backend.letGo() }

    // MARK: Opening and closing

    /// Opens the catalogue now and goes on with what ran or waited; idempotent.
    ///
    /// Throws `catalogue` when another process has it open or it cannot be used, `shutDown` after ``shutdown()``.
    public func activate() async throws(DownloadError) { try await backend.activate() }

    /// Changes limits and rules at once, one change after the other. Connection settings count until the first download
    /// has begun. `change` may look at the manager.
    public func configure(_ change: @Sendable (inout Configuration) -> Void) async {
        await backend.configure(change)
    }

    /// The settings that count now.
    public var configuration: Configuration { backend.configuration }

    /// Stops all downloads, makes what they have safe, lets go of everything. Handles end with `shutDown`. Downloads whose
    /// end no listener has been told of by then are told of when the identifier is opened again.
    ///
    /// States are kept: what ran or waited goes on when the same identifier is opened again, in this process or another.
    public func shutdown() async {
        await backend.shutdown()
        dispatcher.withLock { $0 }?.stop()
    }

    /// Takes no more downloads, waits until all that run or wait for their turn have ended and the delegate was told so,
    /// then shuts down.
    ///
    /// Opens the list when it is not open yet: what ran or waited when it was left belongs to it. Those that are paused,
    /// or wait for a link or credentials, are left as they are. Awaited inside a method of the delegate, it does not wait
    /// for the calls behind that one, and takes its event as handled; once the task is cancelled, it waits for nothing.
    public func finishAndShutDown() async {
        if await backend.drain() { await dispatcher.withLock { $0 }?.finish() }
        await shutdown()
    }

    // MARK: Adding

    /// Adds a download; it runs when there is a slot.
    ///
    /// Throws what can be known before a byte is fetched: no URL, a directory that cannot be written to, texts that are
    /// too long, `duplicate` under ``DuplicateRule/fail``. Nothing is listed then.
    public func download(_ request: DownloadRequest) async throws(DownloadError) -> Download {
        try await download([request])[0]
    }

    /// Adds many at once, all or none; the answers are in the order of the requests.
    public func download(_ requests: [DownloadRequest]) async throws(DownloadError) -> [Download] {
        try await backend.add(checked(requests)).map(handle)
    }

    /// The requests with what can be known of them before a byte is fetched looked at.
    func checked(_ requests: [DownloadRequest]) async throws(DownloadError) -> [DownloadRequest] {
        var checked: [DownloadRequest] = []
        checked.reserveCapacity(requests.count)
        for request in requests { checked.append(try request.checked()) }
        try await places.check(checked.map(\.destination))
        return checked
    }

    /// Adds a download from one URL into a directory; by default the manager's, without one the working directory.
    public func download(from url: URL, into directory: URL? = nil) async throws(DownloadError) -> Download {
        let source: DownloadURL
        do throws(DownloadURL.ParseError) {
            source = try DownloadURL(url.absoluteString)
        } catch { throw DownloadError(.invalidRequest, error.phrase) }
        let place: String
        if let directory { place = directory.path } else { place = try await backend.directory() }
        return try await download(DownloadRequest(sources: [source], destination: .directory(place)))
    }

    /// Goes on with what ``Download/cancel(keeping:)`` kept.
    ///
    /// Throws `notResumable` when it cannot be: used already, damaged, or of another file. When the part file is gone, it
    /// begins anew, and an event says so, in a directory that the session has used; for others it throws `notResumable` too.
    public func download(resumingWith data: ResumeData) async throws(DownloadError) -> Download {
        handle(try await backend.add(resumingWith: data))
    }

    /// Lists what a part file or its journal holds, under the identifier in the journal; it goes on at once. Both must
    /// be this user's alone. Of the trust and network rules in the journal those count that forbid something.
    ///
    /// The answer is the listed download, when it is listed already.
    public func adopt(_ path: String) async throws(DownloadError) -> Download {
        handle(try await backend.adopt(Self.absolute(path)))
    }

    // MARK: The list

    /// Downloads in the order of the list: higher priority first, then the position. All that were added, also those
    /// that have ended, until they are removed.
    ///
    /// - Parameters:
    ///   - offset: How many to leave out at the start.
    ///   - limit: The most to give; by default all.
    public func downloads(offset: Int = 0, limit: Int = .max) async throws(DownloadError) -> [Download] {
        try await backend.downloads(offset: max(0, offset), limit: max(0, limit)).map(handle)
    }

    /// The listed download with this identifier.
    public func download(id: DownloadID) async throws(DownloadError) -> Download? {
        try await backend.download(id).map(handle)
    }

    /// The listed downloads whose first source is this URL, in the order of the list.
    public func downloads(url: URL) async throws(DownloadError) -> [Download] {
        guard let source = try? DownloadURL(url.absoluteString) else { return [] }
        return try await backend.downloads(of: source).map(handle)
    }

    /// How many are listed.
    public var downloadCount: Int {
        get async throws(DownloadError) { try await backend.count() }
    }

    /// What changes in the list from now on; ends with ``shutdown()``. Does not keep the manager alive.
    public var listChanges: ListChanges { backend.listChanges }

    /// Pauses everything that has not ended.
    public func pauseAll() async throws(DownloadError) { try await backend.pauseAll() }

    /// Lets every paused download go on, in the order of the list.
    public func resumeAll() async throws(DownloadError) { try await backend.resumeAll() }

    /// Takes downloads that have ended off the list, and deletes their files when asked; files that are not those that
    /// were published any more stay where they are. Never deletes a directory, or a file that the list does not name.
    public func clear(_ filter: ClearFilter, deletingFiles: Bool = false) async throws(DownloadError) {
        try await backend.clear(filter, deletingFiles: deletingFiles)
    }

    /// What the downloads hold on the disk.
    public func storage() async throws(DownloadError) -> StorageReport { try await backend.storageReport() }

    // MARK: Following

    /// Everything that happens to every download, in order; first what ended earlier and was not acknowledged. Of what waits
    /// for one that does not read, beyond 10,000, only ends are kept.
    ///
    /// Ends with ``shutdown()``. Does not keep the manager alive.
    public var events: AsyncStream<DownloadEvent> { backend.events }

    /// What happened to a download, with the reasons; the 50 newest events, oldest first.
    public func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try await backend.history(of: id)
    }

    /// Who is told what happens; held weakly. `nil` for nobody.
    public var delegate: (any DownloadManagerDelegate)? { dispatcher.withLock { $0 }?.delegate }

    /// Calls `delegate` from now on, on `actor`, which may be the delegate itself; `nil` for nobody.
    public func setDelegate(_ delegate: (any DownloadManagerDelegate)?, on actor: any Actor = MainActor.shared) {
        let new = delegate.map {
            let place = backend.listen()
            return DelegateDispatcher($0, of: self, place, moving: backend.moving, on: actor)
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

    /// The network as it is seen now; online until it was looked at: when the list is opened, with `.ephemeral` once this
    /// or ``networkChanges`` was asked for, a rule forbids some network, or an attempt has failed.
    public var network: NetworkStatus { backend.network }

    /// The network now and whenever it changes; ends with ``shutdown()``.
    public var networkChanges: AsyncStream<NetworkStatus> { backend.networkChanges }

    // MARK: Without a download

    /// The journals in a directory, by the path of their part file, sorted; each can be gone on with as
    /// ``DownloadRequest/Destination/part(_:)``. Journals of other users are left out.
    public func partFiles(in directory: String) throws(DownloadError) -> [String] {
        try PartFiles.list(in: Self.absolute(directory)).own
    }

    /// The same, with what is to be said of those that were left out.
    package func allPartFiles(in directory: String) throws(DownloadError) -> (own: [String], others: [ErrorPhrase]) {
        try PartFiles.list(in: Self.absolute(directory))
    }

    /// The URLs in the journal of a part file, or in all journals of a directory; what cannot be read has none.
    package static func journalURLs(at path: String) -> [DownloadURL] {
        let inside = PartFiles.all(in: path) { $0.record.urls }
        let found = inside.isEmpty ? (try? PartFiles.find(at: path)).map { [$0.record.urls] } ?? [] : inside
        return found.flatMap { $0 }.compactMap { try? DownloadURL($0) }
    }

    /// Asks the server what the download would be; writes nothing.
    public func plan(_ request: DownloadRequest) async throws(DownloadError) -> DownloadPlan {
        try await backend.plan(request.checked())
    }

    // MARK: Handles

    func handle(_ live: LiveDownload) -> Download { live.handle { Download(live, of: self) } }

    /// The handle of the download that an event is about. When it is not listed any more, the one that the app still holds,
    /// or one that shows how it ended; `nil` for an event that ended nothing.
    func handle(for event: DownloadEvent) async throws(DownloadError) -> Download? {
        let listed = try await backend.download(event.id)
        return (listed ?? backend.gone(event.id) ?? LiveDownload(ended: event)).map(handle)
    }

    static func absolute(_ path: String) -> String {
        Paths.join(FileManager.default.currentDirectoryPath, path)
    }
}
