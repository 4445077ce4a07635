public import FerryCore

extension DownloadManager {
    /// Sets the budget of connections, requests and bytes for a host, or for all hosts of a registrable domain; `nil` restores
    /// ``Configuration/ServerOptions/hostBudget`` or ``Configuration/ServerOptions/domainBudget``.
    ///
    /// The counted totals restart at zero. Open connections are kept, but a download with several connections closes its surplus
    /// connections. The budget is not stored; it applies until this manager shuts down.
    ///
    /// Throws `invalidRequest` if the scope has no host name, or the downloads run in the daemon.
    public func setHostBudget(_ budget: HostBudget?, for scope: HostScope) async throws(DownloadError) {
        guard let scheduler else { throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere)) }
        try await scheduler.set(budget, for: scope)
    }

    /// Sets whether requests for other hosts are expected. While they are, no host gets more than its share of the slots,
    /// because a running download is never stopped for another one. Default false.
    package func set(expectsOtherHosts: Bool) { scheduler?.set(expectsOtherHosts: expectsOtherHosts) }

    /// Forgets which servers were found to be down. Call this method if the network was the cause.
    package func forgetFailures() { scheduler?.forgetFailures() }
}
