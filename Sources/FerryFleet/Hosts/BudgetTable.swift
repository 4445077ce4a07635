import FerryCore

/// Finds the budget of a host: its own, the budget of the nearest parent domain, or `*`, which applies to each host separately.
struct BudgetTable: Sendable, Hashable {
    private let names: Set<String>

    /// The name of the default budget, for hosts without a budget of their own.
    static let standard = "*"
    /// The maximum number of budgets.
    static let mostNames = 100_000

    init(_ names: Set<String> = []) { self.names = names }

    /// Returns the name of the host's budget; `nil` for none.
    func budget(of host: String) -> String? {
        guard !names.isEmpty else { return nil }
        var rest = host[...]
        while !rest.isEmpty {
            if names.contains(String(rest)) { return String(rest) }
            guard let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) else { break }
            rest = rest[rest.utf8.index(after: dot)...]
        }
        return names.contains(Self.standard) ? Self.standard : nil
    }

    /// Returns the key under which the host's starts are counted: the budget's name, the host itself for `*`, or the empty string
    /// if the host has no budget.
    func key(of host: String) -> String {
        guard let budget = budget(of: host) else { return "" }
        return budget == Self.standard ? host : budget
    }

    /// Returns the URLs of a row that its next attempt may request. A start is counted only for the first URL, so further URLs must
    /// have no budget or the same one.
    func sources(of row: FleetRow) -> [DownloadURL] {
        let counted = key(of: row.host)
        return row.sources.filter { ["", counted].contains(key(of: FleetRow.host(of: $0))) }
    }
}
