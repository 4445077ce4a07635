package import FerryCore
import Synchronization

/// Limits the connections to one host over all downloads, first come, first served.
///
/// A host is the scheme, name and port of the requested URL. Budgets additionally limit the connections to a host name on all
/// ports, and to all names of a registrable domain. Each admitted connection must call ``leave(_:)`` once.
package final class ConnectionLimiter: Sendable {
    fileprivate struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
    }
    fileprivate struct Host {
        var open = 0
        var waiting: [Waiter] = []
    }
    fileprivate struct State {
        var limit: Int
        var hosts: [Origin: Host] = [:]
        var last = 0
        var budgets = ConnectionBudgets()
    }
    private let state: Mutex<State>

    /// `limit`: the maximum number of connections to one host, at least 1.
    package init(limit: Int) { state = Mutex(State(limit: max(1, limit))) }

    package var limit: Int { state.withLock { $0.limit } }

    /// Changes the limit. Open connections are kept; downloads with several connections close the surplus.
    package func set(limit: Int) { change { $0.limit = max(1, limit) } }

    /// Changes the limits of host names and domains without a budget of their own; `nil` for none.
    package func set(host: Int?, domain: Int?) {
        change { ($0.budgets.host, $0.budgets.domain) = (host.map { max(1, $0) }, domain.map { max(1, $0) }) }
    }

    /// Changes the limit of one host name or domain; `nil` restores the common limit.
    package func set(_ budget: HostBudget?, for scope: HostScope) { change { $0.budgets.own[scope] = budget } }

    /// Uses a list of public suffixes from now on.
    package func use(_ suffixes: PublicSuffixes) {
        change { state in
            state.budgets.use(suffixes, for: state.hosts.lazy.map { ($0, $1.open) })
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let admitted = state.withLock { state in
            body(&state)
            return state.hosts.keys.flatMap { state.admit(to: $0) }
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    /// Admits a connection if there is room now; never waits. Returns whether it was admitted.
    package func tryEnter(_ host: Origin) -> Bool { state.withLock { $0.tryEnter(host) } }

    /// Waits for admission. Returns `false`, without admission, when the task is cancelled.
    package func enter(_ host: Origin) async -> Bool {
        let number = state.withLock { state -> Int? in
            if state.tryEnter(host) { return nil }
            state.last += 1
            return state.last
        }
        guard let number else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.tryEnter(host) { return true }
                    state.hosts[host, default: Host()].waiting.append(
                        Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.remove(number, from: host) }?.resume(returning: false)
        }
    }

    /// Counts a connection even beyond the limit, because a redirect led an open connection to this host.
    package func join(_ host: Origin) {
        state.withLock { state in
            state.hosts[host, default: Host()].open += 1
            state.budgets.count(1, to: host.host)
        }
    }

    /// Releases the permit of an admitted connection.
    package func leave(_ host: Origin) {
        let admitted = state.withLock { state in
            state.hosts[host]?.open -= 1
            state.budgets.count(-1, to: host.host)
            var admitted = state.admit(to: host)
            for other in state.neighbours(of: host) { admitted += state.admit(to: other) }
            if let left = state.hosts[host], left.open <= 0, left.waiting.isEmpty { state.hosts[host] = nil }
            return admitted
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    /// The open connections to each host that has any.
    package var open: [Origin: Int] { state.withLock { $0.hosts.mapValues(\.open).filter { $0.value > 0 } } }

    /// Returns whether connections wait for the host or exceed the limit; downloads with several connections then close one.
    package func isCrowded(_ host: Origin) -> Bool {
        state.withLock { state in
            guard let known = state.hosts[host] else { return false }
            return !known.waiting.isEmpty || known.open > state.limit || state.budgets.isExceeded(by: host.host)
                || state.neighbours(of: host).contains { state.hosts[$0]?.waiting.isEmpty == false }
        }
    }

    /// Returns the number of counted connections to a host.
    package func count(_ host: Origin) -> Int { state.withLock { $0.hosts[host]?.open ?? 0 } }

    /// Returns the number of connections that wait for a host.
    package func waiting(for host: Origin) -> Int { state.withLock { $0.hosts[host]?.waiting.count ?? 0 } }
}

extension ConnectionLimiter.State {
    fileprivate mutating func tryEnter(_ host: Origin) -> Bool {
        var entry = hosts[host] ?? ConnectionLimiter.Host()
        guard entry.waiting.isEmpty, entry.open < limit, budgets.hasRoom(for: host.host) else { return false }
        entry.open += 1
        budgets.count(1, to: host.host)
        hosts[host] = entry
        return true
    }

    /// The other hosts whose connections count toward a common budget; empty without budgets.
    fileprivate mutating func neighbours(of host: Origin) -> [Origin] {
        guard budgets.hasAny else { return [] }
        let scopes = Set(budgets.scopes(of: host.host))
        // `hosts` contains only hosts with open or waiting connections, and there are few of them.
        return hosts.keys.filter { $0 != host && !scopes.isDisjoint(with: budgets.scopes(of: $0.host)) }
    }

    fileprivate mutating func admit(to host: Origin) -> [CheckedContinuation<Bool, Never>] {
        guard var entry = hosts[host] else { return [] }
        var count = 0
        while count < entry.waiting.count, entry.open < limit, budgets.hasRoom(for: host.host) {
            count += 1
            entry.open += 1
            budgets.count(1, to: host.host)
        }
        let admitted = entry.waiting.prefix(count).map(\.continuation)
        entry.waiting.removeFirst(count)
        hosts[host] = entry
        return admitted
    }

    fileprivate mutating func remove(_ number: Int, from host: Origin) -> CheckedContinuation<Bool, Never>? {
        guard let index = hosts[host]?.waiting.firstIndex(where: { $0.number == number }) else { return nil }
        let waiter = hosts[host]?.waiting.remove(at: index)
        if let left = hosts[host], left.open <= 0, left.waiting.isEmpty { hosts[host] = nil }
        return waiter?.continuation
    }
}

/// The permit of one connection, kept over all its requests. It covers one host at a time, so that no connection waits for one host
/// while it holds a permit for another.
struct ConnectionPermit {
    private let gate: ConnectionLimiter
    private(set) var host: Origin?

    init(_ gate: ConnectionLimiter) { self.gate = gate }

    /// Whether connections wait for the permit's host or exceed its limit.
    var isWanted: Bool { host.map(gate.isCrowded) ?? false }

    /// Releases the current permit and acquires one for `new` if there is room now. Returns whether it was acquired.
    mutating func tryTake(_ new: Origin) -> Bool {
        if host == new { return true }
        leave()
        guard gate.tryEnter(new) else { return false }
        host = new
        return true
    }

    /// Releases the current permit and waits for one for `new`. Returns `false` when the task is cancelled.
    mutating func take(_ new: Origin) async -> Bool {
        if host == new { return true }
        leave()
        guard await gate.enter(new) else { return false }
        host = new
        return true
    }

    /// Moves the permit to `new` even beyond the limit, because the connection is already open.
    mutating func join(_ new: Origin) {
        if host == new { return }
        leave()
        gate.join(new)
        host = new
    }

    /// Releases the permit. The creator must call this at the end.
    mutating func leave() {
        if let host { gate.leave(host) }
        host = nil
    }
}
