import FerryAPI

/// The newest events of the stream, as they are sent: what a client that comes back may still get.
///
/// Numbers ascend by one and are never used again. What is older than the ring reaches is gone: who asks for it is told to
/// begin anew. Pure: time is an argument.
struct EventRing: Sendable {
    struct Entry: Sendable {
        let number: Int64
        /// Whose it is; `nil` for everybody's.
        let session: String?
        /// Of an event that ends a download.
        let ending: Int64?
        /// The lines of the event.
        let bytes: [UInt8]
        /// Monotonic.
        let time: Duration
    }

    struct Limits: Sendable, Hashable {
        var count = 10_000
        var age: Duration = .seconds(600)
        var bytes = 32 << 20
    }

    let limits: Limits
    private var entries: [Entry] = []
    /// Those before it are gone already.
    private var first = 0
    private var held = 0
    /// The number of the newest event; 0 before the first.
    private(set) var last: Int64 = 0
    /// The newest number that is not in the ring any more.
    private(set) var forgotten: Int64 = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    var count: Int { entries.count - first }
    var heldBytes: Int { held }

    /// Adds an event; `make` gives its lines for its number.
    mutating func append(
        session: String?, ending: Int64? = nil, at time: Duration, make: (Int64) -> [UInt8]
    ) {
        last += 1
        let bytes = make(last)
        entries.append(Entry(number: last, session: session, ending: ending, bytes: bytes, time: time))
        held += bytes.count
        trim(at: time)
    }

    /// What was appended so far cannot be told one by one: everybody begins anew.
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
            first += 1
        }
        // Moved together now and then, so that it costs little each time.
        if first > 1024, first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        }
    }

    /// Whether all that came after this number is still here.
    func reaches(_ number: Int64) -> Bool { number >= forgotten && number <= last }

    /// What came after `cursor` for one session, or with `nil` for all, up to so many bytes, one event at least; moves the
    /// cursor on. `nil` when some of it is gone.
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
