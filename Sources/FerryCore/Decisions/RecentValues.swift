/// A dictionary of bounded size: a new key takes the place of the one that was used least recently. Pure.
///
/// Finding that one looks at all of them, so it is for hundreds of values, not for thousands.
package struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The most values that are kept.
    package let capacity: Int
    private var values: [Key: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0

    package init(capacity: Int) { self.capacity = max(1, capacity) }

    package var count: Int { values.count }

    /// The value of a key; reading it is a use.
    package subscript(key: Key) -> Value? {
        mutating get {
            guard let index = values.index(forKey: key) else { return nil }
            uses += 1
            values.values[index].used = uses
            return values.values[index].value
        }
        set {
            guard let newValue else {
                values[key] = nil
                return
            }
            uses += 1
            if values.updateValue((newValue, uses), forKey: key) == nil, values.count > capacity,
                let oldest = values.min(by: { $0.value.used < $1.value.used })?.key
            {
                values[oldest] = nil
            }
        }
    }
}
