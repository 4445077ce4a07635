import FerryCore
import FerryEngine

/// Budgets and health of hosts.
extension Scheduler {
    /// Sets the budget of a host or domain; `nil` restores the budget in the settings.
    func set(_ budget: HostBudget?, for scope: HostScope) async throws(DownloadError) {
        guard let known = scope.normalized else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noHostName, scope.name))
        }
        try checkIsOpen()
        let environment = environment
        environment.book.set(budget, for: known)
        await environment.readSuffixes()
    }

    /// Reads the list of public suffixes before the first download, if a domain budget needs it.
    func prepareHosts() async {
        if configuration.server.domainBudget != HostBudget() { await environment.readSuffixes() }
    }

    /// Sets whether downloads from other servers are expected.
    func set(expectsOtherHosts: Bool) {
        queue.set(expectsOtherHosts: expectsOtherHosts)
        reschedule()
    }

    /// Forgets which servers were found to be down.
    func forgetFailures() {
        engine.networkChanged()
        hostsChanged()
    }

    /// Notes that a change outside the queue may permit or prevent starts.
    func hostsChanged() {
        queue.hostsChanged()
        reschedule()
    }

    /// The error of a download that ends without an attempt, because no further attempts are made on its server, or because the
    /// list does not wait for servers; `nil` if its attempts are not limited.
    func refusal(of run: Run, _ input: RunInput) -> DownloadError? {
        guard let refusal = run.refusal else { return nil }
        let host = refusal.origin.authority
        switch refusal.reason {
        case .absent(let wait):
            let delay = wait.until.map { max(.zero, $0 - clock.now()) } ?? Self.timeOfProbe
            return DownloadError(
                .network, ErrorPhrase(.hostIsAbsent, host, wait.error(of: refusal.origin).reason),
                recovery: .transient(retryAfter: delay))
        case .givenUp(let cause, let attempts):
            guard input.row.request.maxRetries ?? configuration.maxRetries != nil else { return nil }
            return DownloadError(
                cause.code, ErrorPhrase(.hostGivenUp, host, "\(attempts)", cause.reason),
                suggestion: ErrorPhrase(.runAgain), recovery: .transient(retryAfter: nil))
        }
    }

    /// The delay of other downloads while one download tests whether the server is back.
    private static let timeOfProbe: Duration = .seconds(2)
}

extension HostBook: HostGate {}

extension HostScope {
    fileprivate var name: String {
        switch self {
        case .host(let name), .domain(let name): name
        }
    }
}

extension DownloadManager.Configuration {
    var hostSettings: HostMachine.Settings {
        // A stored list waits for its servers; a one-shot run has to end.
        HostMachine.Settings(
            host: server.hostBudget, domain: server.domainBudget,
            mostIncidents: storage.isKept && waitsForServers ? nil : maxRetries)
    }
}
