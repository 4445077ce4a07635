extension RangeSet<ByteCount> {
    /// How many bytes all ranges hold together.
    package var byteCount: ByteCount {
        // By index: the iterator of this collection costs several times as much.
        let ranges = ranges
        var count: ByteCount = 0
        for index in 0..<ranges.count {
            let range = ranges[index]
            count += range.upperBound - range.lowerBound
        }
        return count
    }

    /// The end of the run of bytes that begins at 0; 0 when byte 0 is not held.
    package var prefixEnd: ByteCount {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// What of `whole` is not in this set.
    package func gaps(in whole: Range<ByteCount>) -> RangeSet<ByteCount> {
        RangeSet(whole).subtracting(self)
    }

    /// The first run of missing bytes at or after `offset` and before `end`.
    package func firstGap(from offset: ByteCount, to end: ByteCount) -> Range<ByteCount>? {
        guard offset < end else { return nil }
        return gaps(in: offset..<end).ranges.first
    }

    /// Whether every byte of `range` is held.
    package func holds(_ range: Range<ByteCount>) -> Bool {
        if range.isEmpty { return true }
        let ranges = ranges
        for index in 0..<ranges.count {
            let held = ranges[index]
            if held.lowerBound <= range.lowerBound, range.upperBound <= held.upperBound { return true }
        }
        return false
    }

    /// Half-open pairs `[start, end]`, ascending, as a journal writes them.
    package var pairs: [[ByteCount]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

    /// Reads half-open pairs; `nil` when one is empty, negative, out of order or touches the one before.
    package init?(pairs: [[ByteCount]]) {
        var end: ByteCount = -1
        var all: [Range<ByteCount>] = []
        all.reserveCapacity(pairs.count)
        for pair in pairs {
            guard pair.count == 2, pair[0] > end, pair[0] >= 0, pair[1] > pair[0] else { return nil }
            end = pair[1]
            all.append(pair[0]..<pair[1])
        }
        self.init(all)
    }
}
