/// The statements to a fleet's database whose time is measured, each under its own label.
package enum FleetStatement: String, Sendable, Hashable, CaseIterable {
    case beat, claim, rows, append, finish, reserve
    /// All other statements: joining, budgets, the cleanup once a minute, and the commands of `ferry fleet`.
    case other
}
