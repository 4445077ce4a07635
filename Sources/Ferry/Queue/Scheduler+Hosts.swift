import FerryCore
import FerryEngine
import Synchronization

/// Budgets and health of hosts.
extension Scheduler {
    /// Sets the budget of a host or domain; `nil` for that of the settings.
    func set(_ budget: HostBudget?, for scope: HostScope) async throws(DownloadError) {
        guard let known = scope.normalized else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noHostName, scope.name))
        }
        try checkIsOpen()
        let environment = environment
        environment.book.set(budget, for: known)
        await environment.readSuffixes()
    }

    /// Reads the list of public suffixes before the first download, if a budget of domains needs it.
    func prepareHosts() async {
        if configuration.server.domainBudget != HostBudget() { await environment.readSuffixes() }
    }

    /// Sets whether downloads of other servers are expected.
    func set(expectsOtherHosts: Bool) {
        state.withLock { $0.queue.set(expectsOtherHosts: expectsOtherHosts) }
        reschedule()
    }

    /// Forgets which servers were found to be down.
    func forgetFailures() {
        engine.networkChanged()
        hostsChanged()
    }

    /// Which downloads may start has changed beside the queue.
    func hostsChanged() {
        state.withLock { $0.queue.hostsChanged() }
        reschedule()
    }

    /// The error of a download that is not tried, since its server was given up, or is not waited for; `nil` if it is tried
    /// as often as it takes.
    func refusal(of run: Run, _ input: RunInput) -> DownloadError? {
        guard let refusal = run.refusal else { return nil }
        let host = refusal.origin.host
        switch refusal.reason {
        case .absent(let wait):
            let delay = wait.until.map { max(.zero, $0 - clock.now()) } ?? Self.timeOfProbe
            return DownloadError(
                .network, ErrorPhrase(.hostIsAbsent, host, wait.error(of: host).reason),
                recovery: .transient(retryAfter: delay))
        case .givenUp(let cause, let attempts):
            guard input.row.request.maxAttempts ?? configuration.maxAttempts != nil else { return nil }
            return DownloadError(
                cause.code, ErrorPhrase(.hostGivenUp, host, "\(attempts)", cause.reason),
                suggestion: ErrorPhrase(.runAgain), recovery: .transient(retryAfter: nil))
        }
    }

    /// The delay of other downloads while one finds out whether the server is back.
    private static let timeOfProbe: Duration = .seconds(2)
}

extension Scheduler.State {
    /// The runs that wait for their next attempt at a server that is down, except the first of each server: one is
    /// enough to find out when it is back.
    func idleRuns(_ book: HostBook) -> [Run] {
        let idle = queue.runs.filter { _, run in
            !run.isStream && run.retryAt != nil && run.site.map(book.isDown) ?? false
        }
        guard idle.count > 1 else { return [] }
        var seen: Set<Origin> = []
        return idle.compactMap { id, run in queue.entries[id].map { (key: $0.key, id: id, run: run) } }
            .sorted { ($0.key, $0.id.rawValue) < ($1.key, $1.id.rawValue) }
            .filter { $0.run.site.map { !seen.insert($0).inserted } ?? false }
            .map(\.run)
    }
}

extension HostBook: HostGate {}

extension HostScope {
    fileprivate var name: String {
        switch self {
        case .host(let name), .domain(let name): name
        }
    }
}

extension DownloadRequest {
    /// The server that the download depends on; `nil` if it has mirrors, so that no server is more than one of several.
    var site: Origin? {
        // allow(origin): the budget of a host; carries no secret.
        sources.count == 1 ? sources[0].origin : nil
    }
}

extension IndexEntry {
    /// The server of a listed download of which only the name is known.
    var site: Origin? { host.isEmpty ? nil : Origin(scheme: .https, host: host, port: 443) }
}

extension DownloadManager.Configuration {
    var hostSettings: HostMachine.Settings {
        // A list that is kept waits for its servers; a one-shot run has to end.
        HostMachine.Settings(
            host: server.hostBudget, domain: server.domainBudget,
            mostIncidents: storage.isKept && waitsForServers ? nil : maxAttempts)
    }
}
