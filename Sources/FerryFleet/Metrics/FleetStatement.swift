/// The statements to a fleet's database whose time is measured, each under its own label.
package enum FleetStatement: String, Sendable, Hashable, CaseIterable {
    case beat, claim, rows, append, finish, reserve
    /// All others: joining, budgets, what is done once in a minute, what the commands of `ferry fleet` do.
    case other
}
