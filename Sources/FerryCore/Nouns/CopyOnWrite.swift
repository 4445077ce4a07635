/// A large value that copies share until one of them is changed: to copy it is to retain one object.
@propertyWrapper
struct CopyOnWrite<Value: Sendable & Hashable>: Sendable, Hashable {
    /// The value alone: arrays share their elements.
    private var values: [Value]

    init(wrappedValue: Value) { values = [wrappedValue] }

    var wrappedValue: Value {
        _read { yield values[0] }
        _modify { yield &values[0] }
    }
}
