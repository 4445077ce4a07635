/// The change of one optional member: unchanged, null, or a value.
package enum Amendment<Value: Sendable & Hashable>: Sendable, Hashable {
    /// The member was omitted.
    case unchanged
    /// The new value; `nil` if null was sent.
    case set(Value?)
}
