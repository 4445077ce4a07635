import FerryCore

/// The open connections of host names and registrable domains, and their limits. Pure.
struct ConnectionBudgets: Sendable {
    /// The limits of names and domains without a budget of their own; `nil` for none.
    var host: Int?
    var domain: Int?
    var own: [HostScope: HostBudget] = [:]
    private var open: [HostScope: Int] = [:]
    private var suffixes = PublicSuffixes()

    /// Whether there is any limit.
    var hasAny: Bool { host != nil || domain != nil || !own.isEmpty }

    func scopes(of name: String) -> [HostScope] { [.host(name), .domain(suffixes.domain(of: name))] }

    private func limit(of scope: HostScope) -> Int? {
        if let budget = own[scope] { return budget.connections }
        return if case .host = scope { host } else { domain }
    }

    func hasRoom(for name: String) -> Bool { !hasAny || scopes(of: name).allSatisfy { room(in: $0) > 0 } }

    /// Whether a name or its domain has more connections than its limit.
    func isExceeded(by name: String) -> Bool { hasAny && scopes(of: name).contains { room(in: $0) < 0 } }

    private func room(in scope: HostScope) -> Int { limit(of: scope).map { $0 - (open[scope] ?? 0) } ?? 1 }

    mutating func count(_ change: Int, to name: String) {
        for scope in scopes(of: name) {
            let count = (open[scope] ?? 0) + change
            open[scope] = count > 0 ? count : nil
        }
    }

    /// Counts the open connections of each host again under a new list of public suffixes.
    mutating func use(_ suffixes: PublicSuffixes, for hosts: some Sequence<(Origin, Int)>) {
        self.suffixes = suffixes
        open = [:]
        for (host, count) in hosts where count > 0 { self.count(count, to: host.host) }
    }
}
