public import FerryCore

extension DownloadManager {
    /// Sets what a host, or all hosts of a registrable domain, may be asked for from now on; `nil` restores
    /// ``Configuration/ServerOptions/hostBudget`` or ``Configuration/ServerOptions/domainBudget``.
    ///
    /// Totals count anew. Open connections are kept; downloads with several give up the surplus. The budget is not
    /// stored: it is that of this manager, until it shuts down.
    ///
    /// Throws `invalidRequest` if the scope has no host name, or the downloads run in the daemon.
    public func setHostBudget(_ budget: HostBudget?, for scope: HostScope) async throws(DownloadError) {
        guard let scheduler else { throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere)) }
        try await scheduler.set(budget, for: scope)
    }

    /// Sets whether requests for other hosts are expected: until then no host gets more than its share of the slots, since
    /// running downloads are not stopped for others. Default false.
    package func set(expectsOtherHosts: Bool) { scheduler?.set(expectsOtherHosts: expectsOtherHosts) }

    /// Forgets which servers were found to be down: the network between was.
    package func forgetFailures() { scheduler?.forgetFailures() }
}
