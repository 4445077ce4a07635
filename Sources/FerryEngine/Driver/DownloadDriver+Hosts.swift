import FerryCore
import Synchronization

/// Its turn among all downloads that want connections to one host.
extension DownloadDriver {
    enum Admission {
        case atOnce
        case afterWaiting
        case not
    }

    /// The host that the body of this source will come from, as far as is known.
    func host(of source: Int) -> Origin {
        state.withLock { $0.resolved[source]?.origin ?? $0.sources[source].origin }
    }

    /// A place at the host: the only connection of a download waits for it, further ones do without.
    func admit(_ id: ConnectionID, to host: Origin, _ seat: inout ConnectionPermit) async -> Admission {
        if seat.tryTake(host) { return .atOnce }
        if givesWay(id) { return .not }
        report(.event(.note(Reason(.hostIsFull, host.host, "\(environment.hosts.limit)"))))
        return await seat.take(host) ? .afterWaiting : .not
    }

    /// Whether this connection is over, because others of this download go on.
    func givesWay(_ id: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.machine.hasOthers(than: id) else { return false }
            state.machine.noRoom(for: id, at: environment.clock.now())
            return true
        }
    }

    /// Whether nobody of this source was led there yet; from now on it is waited for there.
    func isFirstVisit(_ url: DownloadURL, of source: Int) -> Bool {
        state.withLock { state in
            defer { state.resolved[source] = url }
            // allow(origin): how many connections a host has, no secret goes by it.
            return state.resolved[source]?.origin != url.origin
        }
    }
}
