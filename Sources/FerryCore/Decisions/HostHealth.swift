/// Whether a server accepts requests, judging by its last responses and failures. Pure; time is a `Duration` since a
/// fixed start.
///
/// ```
/// well ──failed──► down ──pause over──► probed by one download ──failed──► down, for twice as long ──…──► given up
///   ▲                │                        │                                                          │
///   └────────────────┴───── any response ─────┴──────────────────────────────────────────────────────────┘
/// ```
///
/// Attempts that began before the last failure belong to the same incident, so the number of connections that fail at
/// once does not matter.
package struct HostHealth: Hashable, Sendable {
    /// The rules for giving up a server.
    package struct Rules: Hashable, Sendable {
        /// The number of incidents without a response after which the server is given up; `nil` for no limit.
        package var mostIncidents: Int?
        /// The longest pause between two probes.
        package var longestPause: Duration = .seconds(300)

        package init(mostIncidents: Int? = nil) { self.mostIncidents = mostIncidents }
    }

    /// The reason why the server counts as down.
    package struct Cause: Hashable, Sendable {
        package var reason: Reason
        package var code: DownloadError.Code
        /// Whether a retry would give the same result, because the name does not exist.
        package var isLasting: Bool

        package init(_ reason: Reason, code: DownloadError.Code, isLasting: Bool = false) {
            (self.reason, self.code, self.isLasting) = (reason, code, isLasting)
        }
    }

    private enum State: Hashable, Sendable {
        case well
        case down(until: Duration, Cause, since: Duration)
        /// One download tries to reach the server.
        case probed(Cause, since: Duration)
        case givenUp(until: Duration, Cause)
    }

    private var state = State.well
    /// The number of incidents since the last response.
    package private(set) var incidents = 0
    private var lastIncident: Duration?
    private var lastAnswer: Duration?
    /// The longest delay that a response requested.
    private struct Hold: Hashable, Sendable {
        var until: Duration
        var status: Int
    }
    private var hold: Hold?

    /// The first pause; each further pause is twice as long.
    private static let firstPause = Duration.seconds(1)
    /// The time for which a server stays given up.
    private static let rest = Duration.seconds(600)
    /// The number of incidents with a lasting cause after which a server is given up.
    private static let mostLasting = 3

    package init() {}

    /// Whether the state can be discarded, because the server is neither down nor has requested a delay.
    package func isForgettable(at now: Duration) -> Bool { state == .well && (hold?.until ?? now) <= now }

    package var isDown: Bool { state != .well }

    /// The end of the delay that the server has requested, and the reason for it; `nil` if there is none, or if it has ended.
    package func held(at now: Duration, host: String) -> (until: Duration, reason: ErrorPhrase)? {
        guard let hold, now < hold.until else { return nil }
        return (hold.until, .hostAsksToWait(host, status: hold.status))
    }

    /// Whether a download may start.
    package func opening(at now: Duration) -> HostOpening {
        if let hold, now < hold.until {
            return .shut(until: hold.until, .asked(status: hold.status, until: hold.until))
        }
        switch state {
        case .well: return .open
        case .down(let until, let cause, let since):
            return now < until ? .shut(until: until, .silent(cause, since: since, until: until)) : .open
        case .probed(let cause, let since): return .shut(until: nil, .silent(cause, since: since, until: nil))
        case .givenUp(let until, let cause): return now < until ? .refused(cause, attempts: incidents) : .open
        }
    }

    /// Records that a download starts.
    package mutating func began(at now: Duration) {
        switch state {
        case .down(let until, let cause, let since) where now >= until: state = .probed(cause, since: since)
        case .givenUp(let until, let cause) where now >= until: state = .probed(cause, since: now)
        default: break
        }
    }

    /// Records that the probe ended without a result.
    package mutating func probeEnded(at now: Duration) {
        if case .probed(let cause, let since) = state { state = .down(until: now, cause, since: since) }
    }

    /// Records a response with this status; `hold` is the delay that the server requests. Returns whether the permission to
    /// start downloads may have changed.
    package mutating func answered(at now: Duration, status: Int, hold: Duration?) -> Bool {
        let wasDown = isDown
        (state, incidents, lastAnswer) = (.well, 0, now)
        guard let hold, hold > .zero else { return wasDown }
        let asked = Hold(until: now + min(hold, RetryAfter.longest), status: status)
        if asked.until > self.hold?.until ?? now { self.hold = asked }
        return true
    }

    /// Records that an attempt that began at `start` made no connection. Returns whether the state has changed.
    package mutating func failed(_ cause: Cause, since start: Duration, at now: Duration, _ rules: Rules) -> Bool {
        if let lastAnswer, start <= lastAnswer { return false }
        if let lastIncident, start <= lastIncident { return false }
        if case .givenUp(let until, _) = state, now < until { return false }
        lastIncident = now
        incidents = min(incidents, 1 << 20) + 1
        let most = rules.mostIncidents.map { cause.isLasting ? min($0, Self.mostLasting) : $0 }
        if let most, incidents >= max(1, most) {
            state = .givenUp(until: now + Self.rest, cause)
        } else {
            let pause = min(Self.firstPause * (1 << min(incidents - 1, 20)), rules.longestPause)
            state = .down(until: now + pause, cause, since: downSince ?? now)
        }
        return true
    }

    /// The time at which the current failures began; `nil` if the server is not down.
    private var downSince: Duration? {
        switch state {
        case .down(_, _, let since), .probed(_, let since): since
        case .well, .givenUp: nil
        }
    }

    /// Records that a download from a server that is down has used up its attempts. Returns whether the state has changed.
    package mutating func gaveUp(at now: Duration, _ rules: Rules) -> Bool {
        guard rules.mostIncidents != nil else { return false }
        switch state {
        case .down(_, let cause, _), .probed(let cause, _):
            state = .givenUp(until: now + Self.rest, cause)
            return true
        case .well, .givenUp: return false
        }
    }

    /// Records that the network has changed, so that earlier failures no longer count.
    package mutating func networkChanged() {
        state = .well
        incidents = 0
    }

    /// Records that the server sends a body, so that a requested delay concerns only the request that was refused. Returns
    /// whether a delay was in effect.
    package mutating func served(at now: Duration) -> Bool {
        defer { hold = nil }
        return hold.map { now < $0.until } ?? false
    }

    /// Permits an attempt that the user wants now, regardless of the delay that the server requested. Returns whether the state
    /// has changed.
    package mutating func tryNow(at now: Duration) -> Bool {
        let wasDown = isDown
        networkChanged()
        return served(at: now) || wasDown
    }
}

/// Whether a download from a server may start.
package enum HostOpening: Hashable, Sendable {
    case open
    /// Not before this time; `nil` if it depends on events.
    case shut(until: Duration?, HostWait)
    /// The server was given up after this number of attempts.
    case refused(HostHealth.Cause, attempts: Int)
}

/// The reason why the downloads from a server wait, and the time of the next attempt.
package enum HostWait: Hashable, Sendable {
    /// The server has responded with this status and requested a delay.
    case asked(status: Int, until: Duration)
    /// The server has not responded since that time; `until` is `nil` while one download tries.
    case silent(HostHealth.Cause, since: Duration, until: Duration?)
    /// The server's downloads use all the connections that its budget permits.
    case full(connections: Int)
    /// The server's budget requires this time between two requests.
    case spaced(Duration)
    /// A total in the server's budget is used up.
    case spent

    /// The time of the next attempt by one of the downloads; `nil` if it depends on events, or is too soon to report.
    package var until: Duration? {
        switch self {
        case .asked(_, let until): until
        case .silent(_, _, let until): until
        case .full, .spaced, .spent: nil
        }
    }

    /// Whether the wait is caused by the server, not by a budget.
    package var isOfServer: Bool {
        switch self {
        case .asked, .silent: true
        case .full, .spaced, .spent: false
        }
    }

    /// The time since which the server has not responded.
    package var since: Duration? { if case .silent(_, let since, _) = self { since } else { nil } }

    /// The error of the server's downloads while they wait. A delay concerns one server; a budget concerns all ports of a host.
    package func error(of origin: Origin) -> DownloadError {
        let host = origin.host
        let reason: Reason =
            switch self {
            case .asked(let status, _): .phrase(.hostAsksToWait(origin.authority, status: status))
            case .silent(let cause, _, _): cause.reason
            case .full(let connections): Reason(.hostBudgetFull, host, "\(connections)")
            case .spaced(let delay): .phrase(.hostBudgetSpaced(host, delay))
            case .spent: .phrase(.hostBudgetSpent(host))
            }
        return DownloadError(.network, reason, recovery: .transient(retryAfter: nil))
    }
}

/// The reasons for which the downloads and requests of a host wait.
extension ErrorPhrase {
    package static func hostAsksToWait(_ host: String, status: Int) -> ErrorPhrase {
        ErrorPhrase(.hostAsksToWait, host, "\(status)")
    }

    package static func hostBudgetSpaced(_ host: String, _ delay: Duration) -> ErrorPhrase {
        ErrorPhrase(.hostBudgetSpaced, host, ByteText.briefly(delay))
    }

    package static func hostBudgetSpent(_ host: String) -> ErrorPhrase { ErrorPhrase(.hostBudgetSpent, host) }
}
