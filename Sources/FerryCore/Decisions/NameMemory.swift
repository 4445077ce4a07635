/// The answers of the resolver, kept for a fixed time because `getaddrinfo` returns no TTL. Pure; time is a `Duration`
/// since a fixed start.
///
/// Invariants: at most ``capacity`` names; only one lookup runs for a name, regardless of the number of waiting
/// callers.
package struct NameMemory: Sendable {
    /// The answer of the resolver.
    package enum Answer: Hashable, Sendable {
        /// The addresses in the resolver's order (RFC 6724), not empty.
        case addresses([IPAddress])
        /// The name does not exist, or has no addresses.
        case missing
        /// The resolver failed; a later lookup may succeed.
        case failed

        /// The time for which the answer is valid.
        package var lifetime: Duration {
            switch self {
            case .addresses: .seconds(60)
            case .missing: .seconds(5)
            case .failed: .seconds(1)
            }
        }
    }

    /// The next step for a name.
    package enum Turn: Hashable, Sendable {
        case known(Answer)
        /// Resolve it, then call ``resolved(_:_:in:at:)`` with this generation.
        case resolve(generation: UInt64)
        /// Wait, because another caller resolves it.
        case wait
    }

    private struct Entry {
        var answer: Answer
        var until: Duration
    }

    package let capacity: Int
    private var entries: [String: Entry] = [:]
    private var pending: Set<String> = []
    /// Incremented when the network changes, because names may then have other addresses.
    private var generation: UInt64 = 0

    package init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    package var count: Int { entries.count }

    package mutating func ask(_ name: String, at now: Duration) -> Turn {
        if let entry = entries[name], now < entry.until { return .known(entry.answer) }
        return pending.insert(name).inserted ? .resolve(generation: generation) : .wait
    }

    /// Stores an answer. An answer from an earlier network is not kept.
    package mutating func resolved(_ name: String, _ answer: Answer, in generation: UInt64, at now: Duration) {
        guard generation == self.generation else { return }
        pending.remove(name)
        if entries.count >= capacity, entries[name] == nil { makeRoom(at: now) }
        entries[name] = Entry(answer: answer, until: now + answer.lifetime)
    }

    /// Forgets everything; the answers of running lookups are not kept.
    package mutating func networkChanged() {
        generation += 1
        entries = [:]
        pending = []
    }

    /// Removes the expired names or, if none has expired, the quarter that expires first.
    private mutating func makeRoom(at now: Duration) {
        entries = entries.filter { now < $0.value.until }
        guard entries.count >= capacity else { return }
        let ends = entries.values.map(\.until).sorted()
        let bound = ends[min(ends.count - 1, capacity / 4)]
        entries = entries.filter { $0.value.until > bound }
    }
}
