/// The identifier of a connection, unique within a download.
package struct ConnectionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package var description: String { "#\(rawValue)" }
}

/// The written byte ranges, and the assignment of missing ranges to connections.
///
/// Invariants, under any order of calls:
/// - no byte has two writers: segments overlap neither each other nor a write in progress;
/// - `claimed` ⊆ `written`, and a byte is claimed only through ``claim(_:)`` with an earlier snapshot of `written`;
/// - every byte is in `written`, in exactly one segment, withheld, or unassigned;
/// - a forgotten byte is neither rewritten nor claimed before ``allow(_:)``.
package struct SegmentPlanner: Sendable {
    /// The byte range assigned to a connection.
    package struct Segment: Hashable, Sendable {
        /// The offset of the next byte in the connection's stream.
        package var position: ByteCount
        /// The exclusive end of the segment; later bytes belong to other segments.
        package var end: ByteCount
        /// The exclusive end of the bytes that the server sends, not less than ``end``.
        package var askedEnd: ByteCount
        /// The write in progress.
        package var writing: Range<ByteCount>?
        /// Whether a sync has failed since the write began, so that the written data may be lost without another error.
        package var isWritingDoubtful = false

        package var remaining: ByteCount { max(0, end - position) }
    }

    /// The length of the whole file in bytes; `nil` until it is known.
    package private(set) var total: ByteCount?
    /// Synced ranges, which the journal may record.
    package private(set) var claimed: RangeSet<ByteCount> { didSet { claimedBytes = claimed.byteCount } }
    /// Ranges whose writes are complete, synced or not.
    package private(set) var written: RangeSet<ByteCount> { didSet { writtenBytes = written.byteCount } }
    /// The number of bytes in ``written``, cached because it is read often.
    package private(set) var writtenBytes: ByteCount
    private var claimedBytes: ByteCount
    /// Forgotten ranges, which must not be written because a journal may still claim them.
    package private(set) var withheld = RangeSet<ByteCount>()
    package private(set) var segments: [ConnectionID: Segment] = [:]

    package init(total: ByteCount?, claimed: RangeSet<ByteCount> = RangeSet()) {
        self.total = total
        self.claimed = claimed
        written = claimed
        (writtenBytes, claimedBytes) = (claimed.byteCount, claimed.byteCount)
    }

    /// The exclusive end of the bytes to fetch: the total, or unbounded while the total is unknown.
    package var end: ByteCount { total ?? .max }

    package var isComplete: Bool { total.map { $0 <= writtenBytes && written.holds(0..<$0) } ?? false }
    package var unclaimedBytes: ByteCount { writtenBytes - claimedBytes }
    package var remainingBytes: ByteCount? { total.map { $0 - writtenBytes } }

    /// The number of written bytes that a response from the start of the file still has to repeat.
    package var repeatedBytes: ByteCount {
        segments.values.reduce(0) { sum, segment in
            guard segment.position < segment.end else { return sum }
            return sum + written.intersection(RangeSet(segment.position..<segment.end)).byteCount
        }
    }

    /// The missing ranges that no segment covers.
    package var unassigned: RangeSet<ByteCount> {
        var rest = written.gaps(in: 0..<end)
        if !withheld.isEmpty { rest.subtract(withheld) }
        for segment in segments.values {
            if segment.position < segment.end { rest.remove(contentsOf: segment.position..<segment.end) }
            if let writing = segment.writing { rest.remove(contentsOf: writing) }
        }
        return rest
    }

    /// Sets the total at the end of a stream without a declared length. It must not be less than the number of written
    /// bytes.
    package mutating func learn(total: ByteCount) {
        self.total = total
        for (id, segment) in segments { segments[id]?.end = min(segment.end, total) }
    }

    /// Forgets the total, because the stream ended before the file did.
    package mutating func forgetTotal() { total = nil }

    /// Assigns at most `size` bytes of the first missing range that overlaps `window`, starting inside the window.
    /// Returns `nil` if no bytes in it are unassigned. The assigned range may end after the window.
    ///
    /// If one of the `streams` continues into the missing range, the last bytes of the range are assigned, because the stream
    /// will deliver the first bytes without another request.
    package mutating func assign(
        _ id: ConnectionID, size: ByteCount, in window: Range<ByteCount> = 0..<ByteCount.max,
        besides streams: Set<ConnectionID> = []
    ) -> Range<ByteCount>? {
        guard segments[id] == nil, size > 0, let gap = unassigned.ranges.first(where: { $0.overlaps(window) }) else {
            return nil
        }
        let start = max(gap.lowerBound, window.lowerBound)
        let size = min(size, gap.upperBound - start)
        let isAwaited = streams.contains { segments[$0].map { $0.end == start && $0.end < $0.askedEnd } ?? false }
        let range = isAwaited ? gap.upperBound - size..<gap.upperBound : start..<start + size
        segments[id] = Segment(position: range.lowerBound, end: range.upperBound, askedEnd: range.upperBound)
        return range
    }

    /// Assigns a stream from `start` to `asked`; bytes that are already written are skipped.
    ///
    /// The segment covers all unassigned bytes in that range. Call this method only if no other connection has a segment.
    package mutating func assignStream(_ id: ConnectionID, from start: ByteCount, asked: ByteCount) {
        segments[id] = Segment(position: start, end: min(asked, end), askedEnd: asked)
    }

    /// Extends a segment by the adjacent unassigned bytes if the server is sending them anyway. Returns whether the
    /// segment was extended.
    package mutating func extend(_ id: ConnectionID) -> Bool {
        guard let segment = segments[id], segment.end < segment.askedEnd else { return false }
        guard let next = unassigned.ranges.first(where: { $0.contains(segment.end) }) else { return false }
        segments[id]?.end = min(next.upperBound, segment.askedEnd)
        return true
    }

    /// Shortens a segment to the length that the server declared; the rest becomes unassigned.
    package mutating func answered(_ id: ConnectionID, to end: ByteCount) {
        guard let segment = segments[id], end < segment.askedEnd else { return }
        segments[id]?.askedEnd = max(segment.position, end)
        bound(id, to: end)
    }

    /// Removes all bytes at or after `boundary` from a segment.
    package mutating func bound(_ id: ConnectionID, to boundary: ByteCount) {
        guard let segment = segments[id] else { return }
        segments[id]?.end = max(segment.position, min(segment.end, boundary))
    }

    /// The placement of the next bytes of a connection's stream.
    package enum Placement: Hashable, Sendable {
        /// Skip `count` bytes, which are already written.
        case skip(count: ByteCount)
        /// Write `range.count` bytes at this offset, then call ``wrote(_:)``.
        case write(Range<ByteCount>)
        /// The segment has ended.
        case stop
    }

    /// Places the next `count` bytes of a stream. Call again for the rest if the placement covers fewer.
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

    /// Records that the write that ``place(_:count:)`` requested has succeeded. Returns the bytes that now count as written; `nil`
    /// if a sync has failed since the write began.
    @discardableResult
    package mutating func wrote(_ id: ConnectionID) -> Range<ByteCount>? {
        guard let segment = segments[id], let range = segment.writing else { return nil }
        writeFailed(id)
        if segment.isWritingDoubtful { return nil }
        written.insert(contentsOf: range)
        return range
    }

    /// Records that the write failed, so that its bytes are missing again.
    package mutating func writeFailed(_ id: ConnectionID) {
        segments[id]?.writing = nil
        segments[id]?.isWritingDoubtful = false
    }

    /// Removes a connection's segment; its unwritten bytes become unassigned.
    package mutating func release(_ id: ConnectionID) { segments[id] = nil }

    /// Returns the ranges that a sync covers if it starts now.
    package func snapshot() -> RangeSet<ByteCount> { written }

    /// Claims a snapshot after the success of a sync that started after the snapshot was taken.
    package mutating func claim(_ snapshot: RangeSet<ByteCount>) {
        claimed.formUnion(snapshot.intersection(written))
    }

    /// Discards written ranges, which are then missing and withheld until ``allow(_:)``. Unwritten parts of `ranges`
    /// are ignored.
    package mutating func forget(_ ranges: RangeSet<ByteCount>) {
        let taken = ranges.intersection(written)
        written.subtract(taken)
        claimed.subtract(taken)
        withheld.formUnion(taken)
    }

    /// Releases forgotten ranges for writing, because no journal claims them any longer.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { withheld.subtract(ranges) }

    /// Discards all unclaimed ranges after a failed sync, including writes in progress. The kernel reports a write-back
    /// error only once, and the next sync would succeed without those bytes.
    package mutating func forgetUnclaimed() {
        written = claimed
        for id in segments.keys where segments[id]?.writing != nil { segments[id]?.isWritingDoubtful = true }
    }
}
