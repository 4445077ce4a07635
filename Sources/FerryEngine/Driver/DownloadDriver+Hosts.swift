import FerryCore
import Synchronization

/// Admission of connections to hosts, shared by all downloads.
extension DownloadDriver {
    enum Admission {
        case atOnce
        case afterWaiting
        case not
    }

    /// Returns the host that the source's body is expected to come from.
    func host(of source: Int) -> Origin {
        state.withLock { $0.resolved[source]?.origin ?? $0.sources[source].origin }
    }

    /// Takes a permit for `host`. A download's only connection waits for one; further connections are refused.
    func admit(_ id: ConnectionID, to host: Origin, _ seat: inout ConnectionPermit) async -> Admission {
        if seat.tryTake(host) { return .atOnce }
        if givesWay(id) { return .not }
        report(.event(.note(Reason(.hostIsFull, host.host, "\(environment.hosts.limit)"))))
        return await seat.take(host) ? .afterWaiting : .not
    }

    /// Ends this connection if the download has others. Returns whether it did.
    func givesWay(_ id: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.machine.hasOthers(than: id) else { return false }
            state.machine.noRoom(for: id, at: environment.clock.now())
            return true
        }
    }

    /// Returns whether the source had not been redirected to this host, and remembers `url` as its target, so that
    /// the next request waits for a permit there.
    func isFirstVisit(_ url: DownloadURL, of source: Int) -> Bool {
        state.withLock { state in
            defer { state.resolved[source] = url }
            // allow(origin): counts connections per host; carries no secret.
            return state.resolved[source]?.origin != url.origin
        }
    }
}
