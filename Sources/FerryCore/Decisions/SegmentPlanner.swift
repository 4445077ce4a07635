/// One connection of a download.
package struct ConnectionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package var description: String { "#\(rawValue)" }
}

/// Which bytes are there, and who fetches which of the others.
///
/// Invariants, under any order of calls:
/// - no byte has two writers: segments never overlap each other, nor a write that is under way;
/// - `claimed` ⊆ `written`, and a byte is claimed only through ``claim(_:)`` of an earlier snapshot of `written`;
/// - every byte is in `written`, in exactly one segment, withheld, or unassigned;
/// - a byte that was forgotten is neither written anew nor claimed before ``allow(_:)`` (C2).
package struct SegmentPlanner: Sendable {
    /// What one connection has been given.
    package struct Segment: Hashable, Sendable {
        /// The next byte of the stream.
        package var position: ByteCount
        /// Bytes at and after this belong to others.
        package var end: ByteCount
        /// The server goes on sending up to here.
        package var askedEnd: ByteCount
        /// The write that is under way.
        package var writing: Range<ByteCount>?
        /// A sync failed meanwhile: what this write brings may be lost without another word.
        package var isWritingDoubtful = false

        package var remaining: ByteCount { max(0, end - position) }
    }

    /// The length of the whole; `nil` until it is known.
    package private(set) var total: ByteCount?
    /// Ranges that the journal may name: synced.
    package private(set) var claimed: RangeSet<ByteCount>
    /// Ranges whose writes have returned.
    package private(set) var written: RangeSet<ByteCount> { didSet { writtenBytes = written.byteCount } }
    /// The bytes in ``written``: asked for all the time.
    package private(set) var writtenBytes: ByteCount
    /// Forgotten, and still in a journal, perhaps: nobody may change these bytes.
    package private(set) var withheld = RangeSet<ByteCount>()
    package private(set) var segments: [ConnectionID: Segment] = [:]

    package init(total: ByteCount?, claimed: RangeSet<ByteCount> = RangeSet()) {
        self.total = total
        self.claimed = claimed
        written = claimed
        writtenBytes = claimed.byteCount
    }

    /// The end of what may be fetched: the total, or no end while it is unknown.
    package var end: ByteCount { total ?? .max }

    package var isComplete: Bool { total.map { $0 <= writtenBytes && written.holds(0..<$0) } ?? false }
    package var unsyncedBytes: ByteCount { writtenBytes - claimed.byteCount }
    package var remainingBytes: ByteCount? { total.map { $0 - writtenBytes } }

    /// What nobody fetches.
    package var unassigned: RangeSet<ByteCount> {
        var rest = written.gaps(in: 0..<end)
        if !withheld.isEmpty { rest.subtract(withheld) }
        for segment in segments.values {
            if segment.position < segment.end { rest.remove(contentsOf: segment.position..<segment.end) }
            if let writing = segment.writing { rest.remove(contentsOf: writing) }
        }
        return rest
    }

    /// The whole turned out to be this long (a stream without a length has ended); not less than what is written.
    package mutating func learn(total: ByteCount) {
        self.total = total
        for (id, segment) in segments { segments[id]?.end = min(segment.end, total) }
    }

    /// Gives the lowest missing bytes to a connection, at most `size`; `nil` when none is free.
    package mutating func assign(_ id: ConnectionID, size: ByteCount) -> Range<ByteCount>? {
        guard segments[id] == nil, size > 0, let gap = unassigned.ranges.first else { return nil }
        let (sum, overflow) = gap.lowerBound.addingReportingOverflow(size)
        let range = gap.lowerBound..<(overflow ? gap.upperBound : min(gap.upperBound, sum))
        segments[id] = Segment(position: range.lowerBound, end: range.upperBound, askedEnd: range.upperBound)
        return range
    }

    /// A stream that begins at `start` and runs to `asked`, whatever of it is held already: it reads over that.
    ///
    /// It takes everything that is free; used when only one connection is there.
    package mutating func assignStream(_ id: ConnectionID, from start: ByteCount, asked: ByteCount) {
        segments[id] = Segment(position: start, end: min(asked, end), askedEnd: asked)
    }

    /// Lets a connection whose server goes on sending take the free bytes right behind its own.
    package mutating func extend(_ id: ConnectionID) -> Bool {
        guard let segment = segments[id], segment.end < segment.askedEnd else { return false }
        guard let next = unassigned.ranges.first(where: { $0.contains(segment.end) }) else { return false }
        segments[id]?.end = min(next.upperBound, segment.askedEnd)
        return true
    }

    /// The server sends less than it was asked for: the rest is free.
    package mutating func answered(_ id: ConnectionID, to end: ByteCount) {
        guard let segment = segments[id], end < segment.askedEnd else { return }
        segments[id]?.askedEnd = max(segment.position, end)
        bound(id, to: end)
    }

    /// Takes everything from `boundary` on from a connection.
    package mutating func bound(_ id: ConnectionID, to boundary: ByteCount) {
        guard let segment = segments[id] else { return }
        segments[id]?.end = max(segment.position, min(segment.end, boundary))
    }

    /// Where the next `count` bytes of a connection's stream go.
    package enum Placement: Hashable, Sendable {
        /// These bytes are held or not wanted: read over `count` of them.
        case skip(count: ByteCount)
        /// Write `range.count` bytes there, then call ``wrote(_:)``.
        case write(Range<ByteCount>)
        /// The segment has ended.
        case stop
    }

    /// Places the next bytes of a stream; call again for what is left of them.
    package mutating func place(_ id: ConnectionID, count: ByteCount) -> Placement {
        guard let segment = segments[id], segment.writing == nil, count > 0, segment.position < segment.end else {
            return .stop
        }
        let limit = segment.position + min(count, segment.remaining)
        if let held = written.ranges.first(where: { $0.contains(segment.position) }) {
            let until = min(held.upperBound, limit)
            segments[id]?.position = until
            return .skip(count: until - segment.position)
        }
        if withheld.contains(segment.position) { return .stop }
        var until = written.ranges.first { $0.lowerBound > segment.position }.map { min($0.lowerBound, limit) } ?? limit
        if let kept = withheld.ranges.first(where: { $0.lowerBound > segment.position }) {
            until = min(until, kept.lowerBound)
        }
        segments[id]?.writing = segment.position..<until
        segments[id]?.position = until
        return .write(segment.position..<until)
    }

    /// The write that ``place(_:count:)`` gave has returned.
    package mutating func wrote(_ id: ConnectionID) {
        guard let segment = segments[id], let range = segment.writing else { return }
        writeFailed(id)
        if !segment.isWritingDoubtful { written.insert(contentsOf: range) }
    }

    /// The write failed: its bytes are missing again.
    package mutating func writeFailed(_ id: ConnectionID) {
        segments[id]?.writing = nil
        segments[id]?.isWritingDoubtful = false
    }

    /// A connection has left: what it did not write is free.
    package mutating func release(_ id: ConnectionID) { segments[id] = nil }

    /// Ranges that a sync covers when it begins now.
    package func snapshot() -> RangeSet<ByteCount> { written }

    /// A sync that began after the snapshot has succeeded.
    package mutating func claim(_ snapshot: RangeSet<ByteCount>) {
        claimed.formUnion(snapshot.intersection(written))
    }

    /// These bytes are not believed any more: they are missing, and withheld until ``allow(_:)``. What of them was not
    /// written stays as it is.
    package mutating func forget(_ ranges: RangeSet<ByteCount>) {
        let taken = ranges.intersection(written)
        written.subtract(taken)
        claimed.subtract(taken)
        withheld.formUnion(taken)
    }

    /// No journal claims these forgotten bytes any more: they may be fetched again.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { withheld.subtract(ranges) }

    /// A sync has failed: what it covered is not believed, it is fetched again. So is what is being written now: the
    /// kernel tells of a failure once, and the next sync would succeed without those bytes.
    package mutating func forgetUnclaimed() {
        written = claimed
        for id in segments.keys where segments[id]?.writing != nil { segments[id]?.isWritingDoubtful = true }
    }
}
