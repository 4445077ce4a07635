import FerryAPI
import FerryCore
import FerryEngine
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The session as backend of a manager: opening and closing, settings, network.
extension RemoteSession: DownloadBackend {
    func activate() async throws(DownloadError) { try await joined() }

    /// The downloads go on in the daemon.
    func suspend() async {}

    /// Sends changed session settings to the daemon.
    func configure<Failure: Error>(
        _ change: @Sendable (inout DownloadManager.Configuration) throws(Failure) -> Void
    ) async throws(Failure) {
        await settingsLock.acquire()
        defer { settingsLock.release() }
        // Not under the mutex, since `change` may read the manager.
        let old = configuration
        var changed = old
        try change(&changed)
        let new = changed
        state.withLock { $0.configuration = new }
        var wish = SettingsChange()
        if new.maxConcurrentDownloads != old.maxConcurrentDownloads {
            wish.maxConcurrentDownloads = .set(max(1, new.maxConcurrentDownloads))
        }
        if new.rateLimit != old.rateLimit { wish.rateLimit = .set(new.rateLimit) }
        if new.allowsMeteredNetwork != old.allowsMeteredNetwork {
            wish.allowsMetered = .set(new.allowsMeteredNetwork)
        }
        if new.allowsConstrainedNetwork != old.allowsConstrainedNetwork {
            wish.allowsConstrained = .set(new.allowsConstrainedNetwork)
        }
        guard wish != SettingsChange() else { return }
        do throws(DownloadError) {
            _ = try await ask(.changeSettings, query: [("scope", "session")], wish, as: SettingsBody.self)
        } catch {
            new.log(LogEntry(.error, "the session's settings could not be changed", details: "\(error)"))
        }
    }

    func directory() async throws(DownloadError) -> String {
        if let given = place.directory { return given }
        try await joined()
        return state.withLock { $0.directory } ?? WorkingDirectory.path
    }

    func plan(_ request: DownloadRequest, testsRanges: Bool) async throws(DownloadError) -> DownloadPlan {
        try checkMayLeave(request)
        let query = testsRanges ? [] : [(name: PlanQuery.testsRanges, value: "false")]
        return try await ask(.plan, query: query, request, as: DownloadPlan.self)
    }

    // MARK: Following

    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        do throws(DownloadError) {
            return try await ask(DaemonCall(.history, id: id.rawValue), as: EventItems.self).items.map(\.event)
        } catch {
            // As with a local list, an unlisted download has no history.
            if error.code == .notFound { return [] }
            throw error
        }
    }

    var moving: Set<DownloadID> { state.withLock { $0.running.begun } }

    func set(dispatcher: DelegateDispatcher?) { state.withLock { $0.dispatcher = dispatcher } }

    /// Does nothing: the daemon always reports progress.
    func startHeartbeat() {}

    var network: NetworkStatus { state.withLock { $0.network } }

    var networkChanges: AsyncStream<NetworkStatus> { networkHub.stream { network } }

    // MARK: Closing

    /// Detaches in the background when the manager has been released; downloads continue.
    func released() {
        guard !isShutDown else { return }
        PendingShutdowns.all.begin(at: nil) { await self.shutdown() }
    }

    /// How long shutdown waits for ends that the daemon has stored but its stream has not delivered yet.
    private static let maxShutdownWait: Duration = .seconds(2)

    /// Detaches from the daemon; downloads continue. Ends so far are delivered first, within ``maxShutdownWait``.
    func shutdown() async {
        if state.withLock({ $0.phase == .joined }) {
            await withTaskGroup(of: Void.self) { [clock] group in
                group.addTask { try? await self.readRemaining() }
                group.addTask { try? await clock.sleep(for: Self.maxShutdownWait) }
                await group.next()
                group.cancelAll()
            }
        }
        let (keeper, live, wasJoined): (Task<Void, Never>?, [LiveDownload], Bool) = state.withLock { state in
            guard state.phase != .closed else { return (nil, [], false) }
            let wasJoined = state.phase == .joined
            state.phase = .closed
            state.running = RunningDownloads()
            defer { state.keeper = nil }
            return (state.keeper, registry.all, wasJoined)
        }
        updates.notify()
        keeper?.cancel()
        await keeper?.value
        if wasJoined { await deliver() }
        for live in live { live.close() }
        networkHub.close()
        log.close()
    }

    /// Refuses new downloads and returns once none of the session's is running or queued.
    func drain() async -> Bool {
        state.withLock { $0.isDraining = true }
        while !isShutDown, !Task.isCancelled {
            let seen = updates.count
            do throws(DownloadError) {
                if try await open() == 0 {
                    try await readRemaining()
                    // The list may be ahead of the event stream.
                    try await catchUp()
                    return state.withLock { $0.stream.isUpToDate }
                }
            } catch { return false }
            await updates.wait(after: seen)
        }
        return false
    }

    /// Returns once all ends so far have been delivered, or after `place.patience`; later ones are delivered at the
    /// next launch.
    private func readRemaining() async throws(DownloadError) {
        let deadline = clock.now() + place.patience
        while !isShutDown, !Task.isCancelled, clock.now() < deadline {
            let seen = updates.count
            // Read before the call: acknowledgements meanwhile lower the daemon's count, and do not raise it.
            let (known, isUpToDate) = state.withLock {
                ($0.receipts.pending.count + $0.receipts.handled.count, $0.stream.isUpToDate)
            }
            let sessions = try await ask(DaemonCall(.sessions), as: SessionItems.self).items
            let own = sessions.first { $0.identifier == place.identifier }
            if isUpToDate, own?.pendingEvents ?? 0 <= known { break }
            await updates.wait(after: seen, atMost: deadline - clock.now(), by: clock)
        }
    }

    /// The number of downloads that are running or wait for something other than the user.
    private func open() async throws(DownloadError) -> Int {
        let open = try await ask(.list([("state", "waiting,downloading,verifying")]), as: DownloadPage.self)
        return open.items.count { said in
            switch said.status.state {
            case .waiting(.freshLink), .waiting(.credentials): false
            default: true
            }
        }
    }

    /// Throws `invalidRequest` for a stream, which cannot leave this process.
    func checkMayLeave(_ request: DownloadRequest) throws(DownloadError) {
        guard case .stream = request.destination else { return }
        throw DownloadError(.invalidRequest, ErrorPhrase(.streamStaysHere), recovery: .needsUser)
    }
}
