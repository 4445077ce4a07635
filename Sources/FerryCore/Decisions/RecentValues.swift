/// A dictionary of bounded size that evicts the least recently used value.
///
/// Eviction scans all values, so the type is suitable for hundreds of values, not thousands.
package struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The maximum number of values.
    package let capacity: Int
    private var values: [Key: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0

    package init(capacity: Int) { self.capacity = max(1, capacity) }

    package var count: Int { values.count }

    /// Removes and returns all values.
    package mutating func removeAll() -> [Value] {
        defer { values = [:] }
        return values.map { $1.value }
    }

    /// The value of a key; reading it counts as a use.
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
