import FerryCore

/// Which budget a host is under: its own, that of the nearest domain above it, or `*`, which each host has for itself.
struct BudgetTable: Sendable, Hashable {
    private let names: Set<String>

    /// The budget of hosts without another.
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

    /// Returns what the host's starts are counted under: the budget's name, the host for `*`, the empty text for none.
    func key(of host: String) -> String {
        guard let budget = budget(of: host) else { return "" }
        return budget == Self.standard ? host : budget
    }

    /// The URLs of a row that are requested: a start is counted for its first one, so others are those without a budget
    /// and those under the same.
    func sources(of row: FleetRow) -> [DownloadURL] {
        let counted = key(of: row.host)
        return row.request.sources.filter { ["", counted].contains(key(of: FleetRow.host(of: $0))) }
    }
}
