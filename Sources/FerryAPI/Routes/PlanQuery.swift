/// The query of `POST /plan`.
package enum PlanQuery {
    /// Whether a second request, for a range, is sent to the server. Default true.
    package static let testsRanges = "testsRanges"
}
