/// A large value that copies share until one of them is changed: copying it only retains one object.
@propertyWrapper
struct CopyOnWrite<Value: Sendable & Hashable>: Sendable, Hashable {
    /// An array with the value as its only element, because copies of an array share their storage.
    private var values: [Value]

    init(wrappedValue: Value) { values = [wrappedValue] }

    var wrappedValue: Value {
        _read { yield values[0] }
        _modify { yield &values[0] }
    }
}
