/// Decides when downloads may start and requests may be sent, based on the budgets of their hosts and registrable
/// domains and on the responses of their servers. Pure; time is a `Duration` since a fixed start.
///
/// A budget applies to a host name on all ports; health (failures, `Retry-After`) belongs to an origin.
///
/// Invariants: the starts of two requests of a scope are at least the delay of its budget apart; a scope has at most as many
/// runs as permitted connections.
package struct HostMachine: Sendable {
    /// The rules for hosts without a budget of their own.
    package struct Settings: Hashable, Sendable {
        package var host = HostBudget()
        package var domain = HostBudget()
        package var health = HostHealth.Rules()

        package init(host: HostBudget = HostBudget(), domain: HostBudget = HostBudget(), mostIncidents: Int? = nil) {
            self.host = host.bounded
            self.domain = domain.bounded
            health = HostHealth.Rules(mostIncidents: mostIncidents)
        }
    }

    /// Whether a request may be sent.
    package enum Turn: Hashable, Sendable {
        /// Send it now; it is recorded as sent.
        case now
        /// Send it at this time, which is reserved for it. Call ``confirm(_:at:)`` directly before.
        case reserved(at: Duration)
        /// Request a turn again, but not before this time; nothing is reserved. The phrase is the reason.
        case later(at: Duration, ErrorPhrase)
    }

    /// The use of a budget.
    private struct Account {
        var runs = 0
        /// The time at which the next download may start.
        var nextRun: Duration?
        var lastRequest: Duration?
        /// The earliest time for the next request without a reserved time.
        var nextRequest: Duration?
        var requests = 0
        var bytes: ByteCount = 0

        func isIdle(at now: Duration) -> Bool {
            runs == 0 && requests == 0 && bytes == 0 && (nextRun ?? now) <= now && (nextRequest ?? now) <= now
        }
    }

    private var settings: Settings
    private var own: [HostScope: HostBudget] = [:]
    private var accounts: [HostScope: Account] = [:]
    private var origins: [Origin: HostHealth] = [:]
    /// The number of response bodies that are being received.
    private var receiving: [Origin: Int] = [:]
    private var suffixes = PublicSuffixes()
    private var domains: [String: String] = [:]

    /// The number of remembered hosts above which idle hosts are forgotten.
    static let mostIdle = 4096
    /// The maximum time between the reservation and the sending of a request, unless the delay of the budget is longer. A
    /// request that would wait for longer gives up its connection.
    package static let longestPromise = Duration.seconds(1)
    /// The factor by which that time is longer for a request that continues others, because the earlier requests would have to
    /// be sent again.
    private static let continuedPromise = 16
    /// The interval at which a request that waits for a new budget tries again.
    private static let spentInterval = Duration.seconds(10)

    package init(_ settings: Settings = Settings()) { self.settings = settings }

    // MARK: Budgets

    package mutating func set(_ settings: Settings) { self.settings = settings }

    /// Sets the budget of a scope, whose totals restart at zero; `nil` for the budget of the settings.
    package mutating func set(_ budget: HostBudget?, for scope: HostScope) {
        own[scope] = budget?.bounded
        accounts[scope]?.requests = 0
        accounts[scope]?.bytes = 0
        accounts[scope]?.nextRun = nil
        accounts[scope]?.nextRequest = nil
    }

    /// Uses a list of public suffixes from now on.
    package mutating func use(_ suffixes: PublicSuffixes) {
        self.suffixes = suffixes
        domains = [:]
        // Downloads that are already running no longer count for their domains.
        accounts = accounts.filter { if case .host = $0.key { true } else { false } }
    }

    package var hasSuffixes: Bool { suffixes.hasList }

    /// Whether a budget is set for a domain.
    package var needsSuffixes: Bool {
        settings.domain != HostBudget() || own.keys.contains { if case .domain = $0 { true } else { false } }
    }

    /// The scopes of a host: itself and its domain.
    package mutating func scopes(of host: String) -> [HostScope] {
        if let domain = domains[host] { return [.host(host), .domain(domain)] }
        if domains.count >= Self.mostIdle { domains = [:] }
        let domain = suffixes.domain(of: host)
        domains[host] = domain
        return [.host(host), .domain(domain)]
    }

    /// Whether any budget limits bytes or their rate.
    package var limitsBytes: Bool {
        settings.host.limitsBytes || settings.domain.limitsBytes || own.values.contains(where: \.limitsBytes)
    }

    /// The budget of a scope.
    package func budget(of scope: HostScope) -> HostBudget {
        if let budget = own[scope] { return budget }
        return if case .host = scope { settings.host } else { settings.domain }
    }

    // MARK: Downloads

    /// Whether a download from the origin may start.
    package mutating func opening(of origin: Origin, at now: Duration) -> HostOpening {
        let health = origins[origin]?.opening(at: now) ?? .open
        guard health == .open else { return health }
        var (until, delay) = (now, Duration.zero)
        for scope in scopes(of: origin.host) {
            let (budget, account) = (budget(of: scope), accounts[scope] ?? Account())
            if let most = budget.connections, account.runs >= most {
                return .shut(until: nil, .full(connections: most))
            }
            if isSpent(budget, account) { return .shut(until: nil, .spent) }
            guard let own = budget.delay else { continue }
            delay = max(delay, own)
            until = max(until, account.nextRun ?? now, account.nextRequest ?? now)
        }
        return until > now ? .shut(until: until, .spaced(delay)) : .open
    }

    /// Records that a download from the origin starts.
    package mutating func began(_ origin: Origin, at now: Duration) {
        for scope in scopes(of: origin.host) {
            let delay = budget(of: scope).delay
            accounts[scope, default: Account()].runs += 1
            if let delay { accounts[scope]?.nextRun = now + delay }
        }
        origins[origin]?.began(at: now)
    }

    /// Records that a download that has started uses another server than was assumed. Returns whether the download may
    /// continue. If it may, it counts for that server; otherwise, the start does not count.
    package mutating func corrected(_ assumed: Origin?, to origin: Origin?, at now: Duration) -> Bool {
        // A budget belongs to the host, so it has permitted this start already.
        if let assumed, let origin, assumed.host == origin.host {
            let isOpen = (origins[origin]?.opening(at: now) ?? .open) == .open
            guard isOpen else {
                ended(assumed, at: now)
                return false
            }
            origins[assumed]?.probeEnded(at: now)
            origins[origin]?.began(at: now)
            return true
        }
        if let assumed { ended(assumed, at: now) }
        guard let origin else { return true }
        guard opening(of: origin, at: now) == .open else { return false }
        began(origin, at: now)
        return true
    }

    /// Records that the run of a download has ended.
    package mutating func ended(_ origin: Origin, at now: Duration) {
        for scope in scopes(of: origin.host) {
            if let runs = accounts[scope]?.runs { accounts[scope]?.runs = max(0, runs - 1) }
        }
        origins[origin]?.probeEnded(at: now)
        forget(at: now)
    }

    private func isSpent(_ budget: HostBudget, _ account: Account) -> Bool {
        budget.requests.map { account.requests >= $0 } ?? false || budget.bytes.map { account.bytes >= $0 } ?? false
    }

    // MARK: Requests

    /// Returns when a request may be sent. `continues` is true after a redirect or a challenge.
    package mutating func request(to origin: Origin, continues: Bool = false, at now: Duration) -> Turn {
        var promise = Self.longestPromise
        let held = origins[origin]?.held(at: now, host: origin.authority)
        var time = held?.until ?? now
        var reason = held?.reason
        let scopes = scopes(of: origin.host)
        for scope in scopes {
            let (budget, account) = (budget(of: scope), accounts[scope] ?? Account())
            if isSpent(budget, account) {
                return .later(at: now + Self.spentInterval, .hostBudgetSpent(origin.host))
            }
            guard let delay = budget.delay else { continue }
            promise = max(promise, delay)
            let next = max(account.nextRequest ?? now, account.lastRequest.map { $0 + delay } ?? now)
            if next > time { (time, reason) = (next, .hostBudgetSpaced(origin.host, delay)) }
        }
        if let reason, time - now > promise * (continues ? Self.continuedPromise : 1) {
            return .later(at: time, reason)
        }
        for scope in scopes {
            if let delay = budget(of: scope).delay { accounts[scope, default: Account()].nextRequest = time + delay }
        }
        if time > now { return .reserved(at: time) }
        record(scopes, at: now)
        return .now
    }

    /// Checks a reserved time again when it has come: a late wake-up or a response of the server may have moved it.
    package mutating func confirm(_ origin: Origin, at now: Duration) -> Turn {
        if let held = origins[origin]?.held(at: now, host: origin.authority) {
            return .later(at: held.until, held.reason)
        }
        let scopes = scopes(of: origin.host)
        var time = now
        for scope in scopes {
            let (budget, account) = (budget(of: scope), accounts[scope] ?? Account())
            if isSpent(budget, account) {
                return .later(at: now + Self.spentInterval, .hostBudgetSpent(origin.host))
            }
            if let delay = budget.delay, let last = account.lastRequest { time = max(time, last + delay) }
        }
        if time > now { return .reserved(at: time) }
        record(scopes, at: now)
        return .now
    }

    private mutating func record(_ scopes: [HostScope], at now: Duration) {
        for scope in scopes {
            let budget = budget(of: scope)
            if budget.delay != nil { accounts[scope, default: Account()].lastRequest = now }
            if budget.requests != nil { accounts[scope, default: Account()].requests += 1 }
        }
    }

    /// Counts received bytes for the budgets that limit their total.
    package mutating func received(_ count: ByteCount, from host: String) {
        for scope in scopes(of: host) where budget(of: scope).bytes != nil {
            let old = accounts[scope]?.bytes ?? 0
            accounts[scope, default: Account()].bytes = old.adding(count)
        }
    }

    // MARK: Servers

    /// Records that a response body of the origin starts. Returns whether the permission to start downloads may have changed.
    ///
    /// The body ends a delay that the origin requested, so that the order of two responses that arrive together does not
    /// matter.
    package mutating func receives(_ origin: Origin, at now: Duration) -> Bool {
        receiving[origin, default: 0] += 1
        return origins[origin]?.served(at: now) ?? false
    }

    /// Records that a response body of the origin has ended.
    package mutating func received(_ origin: Origin) {
        let count = receiving[origin, default: 0] - 1
        receiving[origin] = count > 0 ? count : nil
    }

    /// Records a response. Returns whether the permission to start downloads may have changed.
    ///
    /// While the origin serves a connection, its `Retry-After` concerns only a surplus connection, and does not delay
    /// the others.
    package mutating func answered(
        _ origin: Origin, status: Int, hold: Duration?, at now: Duration
    ) -> Bool {
        let hold = receiving[origin] == nil ? hold : nil
        guard hold != nil || origins[origin] != nil else { return false }
        return origins[origin, default: HostHealth()].answered(at: now, status: status, hold: hold)
    }

    /// Records that a connection could not be made. Returns whether the state of the server has changed.
    package mutating func failed(
        _ origin: Origin, _ cause: HostHealth.Cause, since start: Duration, at now: Duration
    ) -> Bool {
        origins[origin, default: HostHealth()].failed(cause, since: start, at: now, settings.health)
    }

    /// Records that a download has used up its attempts. Returns whether the state of the server has changed.
    package mutating func gaveUp(_ origin: Origin, at now: Duration) -> Bool {
        origins[origin]?.gaveUp(at: now, settings.health) ?? false
    }

    /// Whether the origin has requested a delay that has not ended.
    package func isHeld(_ origin: Origin, at now: Duration) -> Bool {
        origins[origin]?.held(at: now, host: origin.host) != nil
    }

    package func isDown(_ origin: Origin) -> Bool { origins[origin]?.isDown ?? false }

    package mutating func networkChanged() { for origin in origins.keys { origins[origin]?.networkChanged() } }

    /// Permits an attempt at these servers now, because the user wants it. Budgets still apply. Returns whether the permission
    /// to start downloads may have changed.
    package mutating func tryNow(at now: Duration, where isMeant: (Origin) -> Bool) -> Bool {
        var hasChanged = false
        for origin in origins.keys.filter(isMeant) {
            if origins[origin]?.tryNow(at: now) == true { hasChanged = true }
        }
        return hasChanged
    }

    /// The number of remembered hosts and domains.
    var count: Int { accounts.count + origins.count }

    private mutating func forget(at now: Duration) {
        if accounts.count > Self.mostIdle { accounts = accounts.filter { !$0.value.isIdle(at: now) } }
        if origins.count > Self.mostIdle { origins = origins.filter { !$0.value.isForgettable(at: now) } }
    }
}
