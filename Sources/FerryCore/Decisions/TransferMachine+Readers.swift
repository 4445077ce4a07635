/// The identifier of a reader, unique within a run of a download.
package struct ReaderID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
}

/// Readers of the file while it is fetched: the bytes that they read next are fetched before all others.
///
/// Each reader has a window, which begins at its position. A connection that is opened or has ended its segment is
/// assigned the missing bytes of the windows first. If no connection will bring the byte at a reader's position soon, one
/// more connection is opened within the limits; if none may be opened, the one that would be done last leaves its segment.
/// Where responses cannot be joined, readers wait for the only stream.
extension TransferMachine {
    /// A reader of the file while it is fetched.
    package struct Reader: Sendable {
        /// The bytes that it has received.
        package internal(set) var received: Range<ByteCount>
        /// The exclusive end of the bytes that it reads; not less than its position.
        package let end: ByteCount
        /// Since when it has waited for the byte at its position.
        var waitsSince: Duration?
        /// Whether bytes that it has received were found to be wrong.
        package internal(set) var isRefuted = false

        /// The offset of the byte that it reads next.
        package var position: ByteCount { received.upperBound }

        /// The bytes that are fetched before all others.
        var window: Range<ByteCount> { position..<position + min(end - position, TransferMachine.readAhead) }
    }

    /// Bytes after the position of a reader that are fetched before all others.
    static let readAhead: ByteCount = 16 << 20
    /// The distance from a reader at which a missing byte is urgent.
    private static let urgentDistance: ByteCount = 1 << 20
    /// The time in which a connection is worth waiting for, in addition to the set-up of another one.
    private static let patienceOfReaders = 0.25

    /// The readers, each of which receives its bytes in order.
    package struct Readers: Sendable {
        package private(set) var all: [ReaderID: Reader] = [:]
        private var last = 0

        package var isEmpty: Bool { all.isEmpty }
        package subscript(id: ReaderID) -> Reader? { all[id] }

        /// Adds a reader of a range, which may end after the file.
        package mutating func add(_ range: Range<ByteCount>) -> ReaderID {
            last += 1
            let id = ReaderID(rawValue: last)
            all[id] = Reader(received: range.lowerBound..<range.lowerBound, end: range.upperBound)
            return id
        }

        package mutating func remove(_ id: ReaderID) { all[id] = nil }

        /// The reader waits for the byte at its position. Returns whether it did not before.
        package mutating func waits(_ id: ReaderID, at now: Duration) -> Bool {
            guard let reader = all[id], reader.waitsSince == nil else { return false }
            all[id]?.waitsSince = now
            return true
        }

        /// The reader has received the bytes from its position to `end`.
        package mutating func received(to end: ByteCount, by id: ReaderID) {
            guard let reader = all[id], reader.position <= end, end <= reader.end else { return }
            all[id]?.received = reader.received.lowerBound..<end
            all[id]?.waitsSince = nil
        }

        /// Whether a reader waits for one of these bytes.
        func areAwaiting(_ range: Range<ByteCount>) -> Bool {
            all.values.contains { $0.waitsSince != nil && range.contains($0.position) }
        }

        /// Bytes were found to be wrong: their readers must not go on.
        mutating func refute(_ ranges: RangeSet<ByteCount>) {
            for (id, reader) in all where !ranges.intersection(RangeSet(reader.received)).isEmpty {
                all[id]?.isRefuted = true
            }
        }
    }

    /// Returns the bytes at the position of a reader that are written, at most `most`; `nil` if there are none.
    package func available(to id: ReaderID, most: ByteCount) -> Range<ByteCount>? {
        guard let reader = readers[id],
            let run = planner.written.ranges.first(where: { $0.contains(reader.position) })
        else { return nil }
        let end = min(run.upperBound, reader.end, reader.position + most)
        return reader.position < end ? reader.position..<end : nil
    }

    // MARK: Planning

    /// The readers whose bytes can be fetched out of order; the one that has waited longest first.
    private var plannedReaders: [Reader] {
        phase == .running && joinsParts && !policy.isSingle ? orderedReaders : []
    }

    private var orderedReaders: [Reader] {
        if readers.isEmpty { return [] }
        let served = readers.all.filter { !$0.value.isRefuted && $0.value.position < min($0.value.end, planner.end) }
        func order(_ entry: (key: ReaderID, value: Reader)) -> (Duration, Int) {
            (entry.value.waitsSince ?? .seconds(Int64.max), entry.key.rawValue)
        }
        return served.sorted { order($0) < order($1) }.map(\.value)
    }

    /// Returns the missing range that the first request of an opening asks for: from the bytes on that a reader wants.
    func openingGap() -> Range<ByteCount>? {
        let gaps = planner.unassigned.ranges
        for reader in planner.total == nil ? [] : orderedReaders {
            if let gap = gaps.first(where: { $0.overlaps(reader.window) }) {
                return max(gap.lowerBound, reader.position)..<gap.upperBound
            }
        }
        return gaps.first
    }

    /// The missing bytes that readers need and no connection will bring soon; the longest awaited first.
    func urgentPositions(at now: Duration) -> [ByteCount] {
        var found: [ByteCount] = []
        for reader in plannedReaders {
            let window = reader.window.clamped(to: 0..<planner.end)
            guard let missing = planner.written.gaps(in: window).ranges.first?.lowerBound,
                missing - reader.position <= Self.urgentDistance, !planner.withheld.contains(missing),
                !found.contains(missing), !isServed(missing, at: now)
            else { continue }
            found.append(missing)
        }
        return found
    }

    /// Whether a connection that receives bytes, or may still, will bring this byte soon.
    private func isServed(_ byte: ByteCount, at now: Duration) -> Bool {
        let isSilent = connections.values.allSatisfy { $0.isCut || isQuiet($0, at: now) }
        return planner.segments.contains { id, segment in
            if segment.writing?.contains(byte) == true { return true }
            guard let connection = connections[id], !connection.isCut, isSilent || !isQuiet(connection, at: now) else {
                return false
            }
            return (segment.position..<max(segment.position, segment.end)).contains(byte)
                && byte - segment.position <= reach(of: connection)
        }
    }

    /// The bytes that a connection brings in the time that another one would need to begin; everything until its speed is
    /// measured, at the next tick.
    private func reach(of connection: Connection) -> ByteCount {
        if connection.speed == 0, connection.body != nil { return Self.readAhead }
        let delay = latency.setUp.seconds + 4 * latency.roundTrip.seconds + Self.patienceOfReaders
        return max(Self.smallestSteal.upperBound, ByteCount(min(connection.speed * delay, Double(Self.readAhead))))
    }

    /// The number of urgent positions for which no connection is about to ask for its next order.
    func unservedReaders(at now: Duration) -> Int {
        let urgent = readers.isEmpty ? 0 : urgentPositions(at: now).count
        return urgent == 0 ? 0 : max(0, urgent - connections.values.count { !$0.isCut && ($0.yields || $0.isIdle) })
    }

    /// Whether a connection that has ended its segment has bytes to fetch for a reader.
    func hasWorkForReaders(at now: Duration) -> Bool {
        guard !readers.isEmpty else { return false }
        if !urgentPositions(at: now).isEmpty { return true }
        let unassigned = planner.unassigned
        return plannedReaders.contains { !unassigned.intersection(RangeSet($0.window)).isEmpty }
    }

    /// Assigns bytes that readers wait for, or will read next; `nil` if others bring them all.
    mutating func shareForReaders(_ id: ConnectionID, size: ByteCount, at now: Duration) -> Range<ByteCount>? {
        guard !readers.isEmpty else { return nil }
        // Several connections share a window in small segments, so that its beginning is there soon.
        let isAlone = readers.all.count == 1 && others(than: id) == 0
        let small = max(Self.smallestSegment, ByteCount(min((connections[id]?.speed ?? 0) * 2, Double(size))))
        let size = isAlone ? size : min(size, small)
        for byte in urgentPositions(at: now) {
            free(byte)
            if let range = planner.assign(id, size: size, in: byte..<byte + 1) { return range }
        }
        for reader in plannedReaders {
            if let range = planner.assign(id, size: size, in: reader.window) { return range }
        }
        return nil
    }

    /// Ends the segment of this byte before it.
    private mutating func free(_ byte: ByteCount) {
        for (id, segment) in planner.segments where segment.position <= byte && byte < segment.end {
            planner.bound(id, to: byte)
            if segment.position == byte, connections[id]?.body == nil { latency.increasePatience() }
        }
    }

    /// Has as many connections leave their segments as readers are unserved.
    mutating func redirectToReaders(at now: Duration) {
        let count = unservedReaders(at: now)
        guard count > 0 else { return }
        let waited = plannedReaders.map(\.position)
        var candidates: [(id: ConnectionID, seconds: Double)] = []
        for (id, segment) in planner.segments where segment.remaining > 0 {
            guard let connection = connections[id], !connection.isCut, !connection.yields else { continue }
            // It serves a reader itself.
            let reach = segment.position...segment.position + reach(of: connection)
            if waited.contains(where: { reach.contains($0) && $0 < segment.end }) { continue }
            candidates.append((id, connection.speed > 0 ? Double(segment.remaining) / connection.speed : .infinity))
        }
        candidates.sort { ($0.seconds, $0.id.rawValue) > ($1.seconds, $1.id.rawValue) }
        for (id, seconds) in candidates.prefix(count) where seconds > Self.patienceOfReaders {
            guard let segment = planner.segments[id] else { continue }
            planner.bound(id, to: segment.position)
            connections[id]?.yields = true
        }
    }
}
