/// What a change says about one member: nothing, null, or a value.
package enum Amendment<Value: Sendable & Hashable>: Sendable, Hashable {
    /// The member was left out.
    case unchanged
    /// The new value; `nil` where null was sent: none.
    case set(Value?)
}
