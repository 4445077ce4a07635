/// The sort key of a list of downloads. Downloads that compare equal are in queue order.
package enum ListSort: String, Sendable, Hashable, CaseIterable {
    /// Queue order: descending priority, then position.
    case queue
    /// The time of addition.
    case added
    /// By the name's bytes, ignoring ASCII case.
    case name
    /// The total size; unknown sizes come last in both directions.
    case size
    /// The name of the state.
    case state
}
