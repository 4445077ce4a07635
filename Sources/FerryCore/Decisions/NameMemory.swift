/// The answers of the resolver, for a fixed time: `getaddrinfo` returns no TTL. Pure; time is a `Duration` since a fixed
/// start.
///
/// Invariants: at most ``capacity`` names; a name that is being resolved is resolved once, however many wait for it.
package struct NameMemory: Sendable {
    /// What the resolver answered.
    package enum Answer: Hashable, Sendable {
        /// The addresses in the resolver's order (RFC 6724), not empty.
        case addresses([IPAddress])
        /// The name does not exist, or has no address.
        case missing
        /// The resolver failed; a later look-up may succeed.
        case failed

        /// How long the answer counts.
        package var lifetime: Duration {
            switch self {
            case .addresses: .seconds(60)
            case .missing: .seconds(5)
            case .failed: .seconds(1)
            }
        }
    }

    /// What to do for a name.
    package enum Turn: Hashable, Sendable {
        case known(Answer)
        /// Resolve it, then call ``resolved(_:_:in:at:)`` with this generation.
        case resolve(generation: UInt64)
        /// Another caller resolves it.
        case wait
    }

    private struct Entry {
        var answer: Answer
        var until: Duration
    }

    package let capacity: Int
    private var entries: [String: Entry] = [:]
    private var pending: Set<String> = []
    /// Grows with every change of the network, whose names may have other addresses.
    private var generation: UInt64 = 0

    package init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    package var count: Int { entries.count }

    package mutating func ask(_ name: String, at now: Duration) -> Turn {
        if let entry = entries[name], now < entry.until { return .known(entry.answer) }
        return pending.insert(name).inserted ? .resolve(generation: generation) : .wait
    }

    /// Stores an answer; one of an earlier network is not kept.
    package mutating func resolved(_ name: String, _ answer: Answer, in generation: UInt64, at now: Duration) {
        guard generation == self.generation else { return }
        pending.remove(name)
        if entries.count >= capacity, entries[name] == nil { makeRoom(at: now) }
        entries[name] = Entry(answer: answer, until: now + answer.lifetime)
    }

    /// Forgets everything; answers to look-ups that are under way are not kept.
    package mutating func networkChanged() {
        generation += 1
        entries = [:]
        pending = []
    }

    /// Removes the expired names and, if all are current, the quarter that expires first.
    private mutating func makeRoom(at now: Duration) {
        entries = entries.filter { now < $0.value.until }
        guard entries.count >= capacity else { return }
        let ends = entries.values.map(\.until).sorted()
        let bound = ends[min(ends.count - 1, capacity / 4)]
        entries = entries.filter { $0.value.until > bound }
    }
}
