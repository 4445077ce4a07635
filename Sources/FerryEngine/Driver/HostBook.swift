package import FerryCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The budgets and the health of all hosts of one manager: executes the decisions of ``HostMachine``.
///
/// The scheduler queries it for the downloads that may start, the transport for the time of each request, and each connection
/// passes its bytes through the rate limits. No lock is held while the closure of ``observe(_:)`` is called.
package final class HostBook: Sendable {
    private struct State {
        var machine: HostMachine
        /// The rate limits of the scopes that have one, while they are in use.
        var throttles: [HostScope: Throttle] = [:]
        var observer: (@Sendable () -> Void)?
    }
    private let state: Mutex<State>
    /// Whether a budget limits bytes; read for each piece of a body, without a lock.
    private let countsBytes = Atomic(false)
    private let clock: any EngineClock
    /// Limits the connections.
    package let connections: ConnectionLimiter

    package init(_ settings: HostMachine.Settings, connections: ConnectionLimiter, clock: any EngineClock) {
        state = Mutex(State(machine: HostMachine(settings)))
        self.connections = connections
        self.clock = clock
        set(settings)
    }

    // MARK: Budgets

    /// Changes the rules for hosts without a budget of their own.
    package func set(_ settings: HostMachine.Settings) {
        state.withLock { state in
            state.machine.set(settings)
            countsBytes.store(state.machine.limitsBytes, ordering: .relaxed)
        }
        connections.set(host: settings.host.connections, domain: settings.domain.connections)
        changed()
    }

    /// Sets the budget of a scope and restarts its totals at zero; `nil` restores the budget of the settings.
    package func set(_ budget: HostBudget?, for scope: HostScope) {
        state.withLock { state in
            state.machine.set(budget, for: scope)
            countsBytes.store(state.machine.limitsBytes, ordering: .relaxed)
            state.throttles[scope]?.set(rate: state.machine.budget(of: scope).bytesPerSecond)
        }
        connections.set(budget?.bounded, for: scope)
        changed()
    }

    /// Whether budgets for domains are set, and no list of public suffixes has been read yet.
    package var wantsSuffixes: Bool { state.withLock { $0.machine.needsSuffixes && !$0.machine.hasSuffixes } }

    /// Uses a list of public suffixes from now on.
    package func use(_ suffixes: PublicSuffixes) {
        state.withLock { $0.machine.use(suffixes) }
        connections.use(suffixes)
    }

    /// Sets the closure that is called, from any thread, when waiting downloads may start or downloads must wait.
    package func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }

    private func changed() { state.withLock { $0.observer }?() }

    // MARK: Downloads

    package func opening(of origin: Origin, at now: Duration) -> HostOpening {
        state.withLock { $0.machine.opening(of: origin, at: now) }
    }

    package func began(_ origin: Origin, at now: Duration) { state.withLock { $0.machine.began(origin, at: now) } }

    /// Reports the end of a download's run. `gaveUp`: the run has used all its attempts without a connection.
    package func ended(_ origin: Origin, gaveUp: Bool) {
        let hasChanged = state.withLock { state in
            let now = clock.now()
            defer { state.machine.ended(origin, at: now) }
            return gaveUp && state.machine.gaveUp(origin, at: now)
        }
        if hasChanged { changed() }
    }

    /// Whether the server has requested a delay that has not ended.
    package func isHeld(_ origin: Origin) -> Bool {
        state.withLock { $0.machine.isHeld(origin, at: clock.now()) }
    }

    package func isDown(_ origin: Origin) -> Bool { state.withLock { $0.machine.isDown(origin) } }

    /// Reports a change of the network, after which earlier failures no longer count.
    package func networkChanged() { state.withLock { $0.machine.networkChanged() } }

    /// Counts a started download toward its real server instead of the assumed one. Returns `false` if the real server does
    /// not permit the start, which then does not count.
    package func corrected(_ assumed: Origin?, to origin: Origin?) -> Bool {
        state.withLock { $0.machine.corrected(assumed, to: origin, at: clock.now()) }
    }

    /// Allows requests to these servers although they have requested a delay, or are down, because the user wants an attempt
    /// now.
    package func tryNow(where isMeant: (Origin) -> Bool) {
        if state.withLock({ $0.machine.tryNow(at: clock.now(), where: isMeant) }) { changed() }
    }

    // MARK: Bytes

    /// A response body that is being received until ``end()`` is called.
    struct Receiving: Sendable {
        fileprivate let book: HostBook
        fileprivate let origin: Origin

        func end() { book.state.withLock { $0.machine.received(origin) } }
    }

    func receive(from url: DownloadURL) -> Receiving {
        // allow(origin): the health of a host; carries no secret.
        let origin = url.origin
        if state.withLock({ $0.machine.receives(origin, at: clock.now()) }) { changed() }
        return Receiving(book: self, origin: origin)
    }

    /// Accounts for received bytes and waits until more bytes may be received.
    func passed(_ count: ByteCount, from host: String) async {
        guard countsBytes.load(ordering: .relaxed) else { return }
        let throttles = state.withLock { state in
            state.machine.received(count, from: host)
            return state.machine.scopes(of: host).compactMap { scope in throttle(for: scope, &state) }
        }
        for throttle in throttles { await throttle.passed(count) }
    }

    var limitsBytes: Bool { countsBytes.load(ordering: .relaxed) }

    private func throttle(for scope: HostScope, _ state: inout State) -> Throttle? {
        guard let rate = state.machine.budget(of: scope).bytesPerSecond else { return nil }
        if let known = state.throttles[scope] { return known }
        // A new throttle has the burst allowance of an idle one, so idle throttles can be discarded.
        if state.throttles.count >= Self.mostThrottles { state.throttles = [:] }
        let new = Throttle(rate: rate, clock: clock)
        state.throttles[scope] = new
        return new
    }

    private static let mostThrottles = 4096
}

/// The scheduling of requests.
extension HostBook: HostAdmission {
    package func begin(_ origin: Origin, continues: Bool) async throws(TransferFailure) -> Duration {
        var turn = state.withLock { $0.machine.request(to: origin, continues: continues, at: clock.now()) }
        while true {
            switch turn {
            case .now: return clock.now()
            case .later(let time, let reason): throw TransferFailure(.held(until: time), reason)
            case .reserved(let time):
                do { try await clock.sleep(until: time) } catch {
                    throw TransferFailure(.cancelled, ErrorPhrase(.stopped))
                }
                turn = state.withLock { $0.machine.confirm(origin, at: clock.now()) }
            }
        }
    }

    package func answered(_ origin: Origin, _ head: ResponseHead) {
        var hold: Duration?
        if [429, 503].contains(head.status) {
            hold = RetryAfter.delay(in: head, now: clock.date())
        }
        let hasChanged = state.withLock {
            $0.machine.answered(origin, status: head.status, hold: hold, at: clock.now())
        }
        if hasChanged { changed() }
    }

    package func failed(_ origin: Origin, _ failure: TransferFailure, since start: Duration) {
        guard failure.kind.isOfHost else { return }
        let error = DownloadError(failure)
        let cause = HostHealth.Cause(
            .phrase(failure.phrase), code: error.code, isLasting: failure.kind == .dns(permanent: true))
        if state.withLock({ $0.machine.failed(origin, cause, since: start, at: clock.now()) }) { changed() }
    }
}

extension TransferFailure.Kind {
    /// Whether the failure concerns the host, regardless of the requested file: no connection was established.
    var isOfHost: Bool {
        switch self {
        case .refused, .connectTimeout, .dns, .unreachable: true
        case .wrongFamily, .privateAddress, .certificate, .tls, .headTimeout, .closed, .broken, .malformed, .redirect,
            .downgrade, .proxy, .outOfDescriptors, .held, .cancelled, .store, .other:
            false
        }
    }
}
