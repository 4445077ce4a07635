import FerryAPI

/// The newest events of the stream in their wire format, for clients that reconnect.
///
/// Numbers increase by one and are never reused. A client that requests an event older than the ring must start again with a
/// snapshot. Pure: time is an argument.
struct EventRing: Sendable {
    struct Entry: Sendable {
        let number: Int64
        /// The session of the event; `nil` for all sessions.
        let session: String?
        /// The event's number among final events; `nil` for other events.
        let ending: Int64?
        /// The event as sent.
        fileprivate(set) var bytes: [UInt8]
        /// When the event was added, by a monotonic clock.
        let time: Duration
    }

    struct Limits: Sendable, Hashable {
        var count = 10_000
        var age: Duration = .seconds(600)
        var bytes = 32 << 20
    }

    let limits: Limits
    private var entries: [Entry] = []
    /// The index of the oldest entry that is still in the ring.
    private var first = 0
    private var held = 0
    /// The number of the newest event; 0 before the first.
    private(set) var last: Int64 = 0
    /// The highest number that is no longer in the ring.
    private(set) var forgotten: Int64 = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    var count: Int { entries.count - first }
    var heldBytes: Int { held }
    /// The number of bytes in memory; tests compare it with ``heldBytes``.
    var storedBytes: Int { entries.reduce(0) { $0 + $1.bytes.count } }

    /// Adds an event; `make` returns its bytes for its number.
    mutating func append(
        session: String?, ending: Int64? = nil, at time: Duration, make: (Int64) -> [UInt8]
    ) {
        last += 1
        let bytes = make(last)
        entries.append(Entry(number: last, session: session, ending: ending, bytes: bytes, time: time))
        held += bytes.count
        trim(at: time)
    }

    /// Discards all events, so that every client must start again with a snapshot.
    mutating func forget() {
        last += 1
        forgotten = last
        entries.removeAll()
        first = 0
        held = 0
    }

    mutating func trim(at now: Duration) {
        while first < entries.count {
            let oldest = entries[first]
            guard count > limits.count || held > limits.bytes || oldest.time + limits.age < now else { break }
            forgotten = oldest.number
            held -= oldest.bytes.count
            // Frees the bytes at once; the entry itself is removed later.
            entries[first].bytes = []
            first += 1
        }
        // Compacted in batches, to keep the amortized cost low.
        if first > 1024, first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        }
    }

    /// Whether all events after this number are still in the ring.
    func reaches(_ number: Int64) -> Bool { number >= forgotten && number <= last }

    /// Returns the events after `cursor` for one session, or for all sessions if `session` is `nil`, and advances the cursor. Stops
    /// after `most` bytes, but returns at least one event if there is one. Returns `nil` if some of them have left the ring.
    func take(after cursor: inout Int64, session: String?, most: Int) -> [Entry]? {
        guard reaches(cursor) else { return nil }
        guard first < entries.count else { return [] }
        var taken: [Entry] = []
        var bytes = 0
        var index = first + Int(max(0, cursor + 1 - entries[first].number))
        while index < entries.count, bytes < most {
            let entry = entries[index]
            if session == nil || entry.session == nil || entry.session == session {
                taken.append(entry)
                bytes += entry.bytes.count
            }
            cursor = entry.number
            index += 1
        }
        return taken
    }
}
