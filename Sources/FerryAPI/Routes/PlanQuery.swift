/// The query of `POST /plan`.
package enum PlanQuery {
    /// Whether the server is asked a second time, for a range. Default true.
    package static let testsRanges = "testsRanges"
}
