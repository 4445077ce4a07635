import FerryCore

/// The starts and connections that this worker has been granted from the fleet's budgets. No I/O, no clock.
///
/// Each start is granted for a certain time, and expires ``tolerance`` later. The request of a start may reach the server up to
/// 0.4 s after that. The database therefore grants starts 1.5 / rate seconds apart, so that the number of requests in any second
/// does not exceed the rate.
struct StartGate: Sendable {
    /// A request of a worker for a share of a budget.
    struct Wish: Sendable, Hashable {
        /// The key under which starts are counted (``BudgetTable/key(of:)``).
        var host: String
        var budget: String
        var wanted: Int
        var running: Int
    }

    /// The share that the database grants.
    struct Grant: Sendable, Hashable {
        var host: String
        /// The number of files at a time; `nil` for no limit.
        var connections: Int?
        var starts: Int
        /// The time to the first start.
        var delay: Duration
        /// The time between two starts; `nil` if they are not limited.
        var apart: Duration?
    }

    private struct Host: Sendable {
        var running = 0
        var connections: Int?
        /// The remaining starts, the time of the first one, and the time between two of them.
        var starts = 0
        var next: Duration = .zero
        var apart: Duration?
        /// When starts without a rate must be requested again, because a server may have requested a pause meanwhile.
        var freshUntil: Duration = .zero
        var isGranted = false
        /// The time before which nothing more is requested.
        var askAt: Duration = .zero
    }

    static let tolerance: Duration = .milliseconds(100)
    /// How long starts without a rate are valid.
    private static let freshness: Duration = .seconds(2)
    /// The time between two requests for a host.
    private static let pause: Duration = .milliseconds(500)
    /// The maximum number of starts, and of hosts, in one statement.
    private static let mostStarts = 256
    private static let mostHosts = 500

    private var hosts: [String: Host] = [:]

    /// Takes a start. Returns false if none is available now.
    mutating func mayStart(_ host: String, at now: Duration) -> Bool {
        if host.isEmpty { return true }
        guard var state = hosts[host], state.isGranted else { return false }
        defer { hosts[host] = state }
        if let most = state.connections, state.running >= most { return false }
        if let apart = state.apart {
            while state.starts > 0, state.next + Self.tolerance < now {
                state.next += apart
                state.starts -= 1
            }
            guard state.starts > 0, state.next <= now else { return false }
            state.next += apart
            state.starts -= 1
        } else if state.starts <= 0 || now >= state.freshUntil {
            return false
        }
        state.running += 1
        return true
    }

    /// Records the end of a file that ``mayStart(_:at:)`` allowed to start.
    mutating func ended(_ host: String) {
        guard let running = hosts[host]?.running else { return }
        hosts[host]?.running = max(0, running - 1)
    }

    /// Lets nothing start until the next grant.
    mutating func hold(_ host: String) { hosts[host]?.starts = 0 }

    /// Returns the requests to make now, for waiting rows.
    ///
    /// - Parameter free: The number of files that could start.
    mutating func wishes(
        _ waiting: [String: Int], free: Int, at now: Duration, budget: (String) -> String
    ) -> [Wish] {
        var wishes: [Wish] = []
        guard free > 0 else { return [] }
        for (host, count) in waiting where !host.isEmpty && wishes.count < Self.mostHosts {
            let state = hosts[host] ?? Host()
            guard now >= state.askAt else { continue }
            let isFull = state.connections.map { state.running >= $0 } ?? false
            let isUsable = state.apart == nil ? now < state.freshUntil : state.next + Self.tolerance >= now
            let hasStarts = state.starts > 0 && isUsable
            guard !state.isGranted || isFull || !hasStarts else { continue }
            hosts[host, default: Host()].askAt = now + Self.pause
            wishes.append(
                Wish(
                    host: host, budget: budget(host), wanted: min(count, free, Self.mostStarts), running: state.running)
            )
        }
        return wishes
    }

    /// Records the grants of the database.
    mutating func granted(_ grants: [Grant], at now: Duration) {
        for grant in grants {
            var host = hosts[grant.host] ?? Host()
            (host.connections, host.starts, host.apart) = (grant.connections, grant.starts, grant.apart)
            (host.next, host.freshUntil) = (now + grant.delay, now + Self.freshness)
            host.isGranted = true
            hosts[grant.host] = host
        }
    }

    /// The time of the next start among hosts with waiting rows; `nil` if none is known.
    func nextStart(_ waiting: [String: Int]) -> Duration? {
        waiting.keys.compactMap { host in
            guard let state = hosts[host], state.starts > 0, state.apart != nil else { return nil }
            return state.next
        }.min()
    }

    /// Forgets hosts without running or waiting rows. Returns the hosts whose connections are to be released.
    mutating func idle(except waiting: [String: Int]) -> [String] {
        let idle = hosts.filter { $0.value.running == 0 && waiting[$0.key] == nil }
        for host in idle.keys { hosts[host] = nil }
        return idle.filter { ($0.value.connections ?? 0) > 0 }.map(\.key)
    }
}
