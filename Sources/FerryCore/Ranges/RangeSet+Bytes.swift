extension RangeSet<ByteCount> {
    /// The total number of bytes in all ranges.
    package var byteCount: ByteCount {
        // By index, because the collection's iterator costs several times as much.
        let ranges = ranges
        var count: ByteCount = 0
        for index in 0..<ranges.count {
            let range = ranges[index]
            count += range.upperBound - range.lowerBound
        }
        return count
    }

    /// The end of the contiguous bytes that start at 0; 0 if byte 0 is missing.
    package var prefixEnd: ByteCount {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// Returns the parts of `whole` that are not in the set.
    package func gaps(in whole: Range<ByteCount>) -> RangeSet<ByteCount> {
        RangeSet(whole).subtracting(self)
    }

    /// Whether the set contains every byte of `range`.
    package func holds(_ range: Range<ByteCount>) -> Bool {
        if range.isEmpty { return true }
        let ranges = ranges
        for index in 0..<ranges.count {
            let held = ranges[index]
            if held.lowerBound <= range.lowerBound, range.upperBound <= held.upperBound { return true }
        }
        return false
    }

    /// Half-open pairs `[start, end]`, ascending, as in a journal.
    package var pairs: [[ByteCount]] { ranges.map { [$0.lowerBound, $0.upperBound] } }

    /// Creates a set from half-open pairs; `nil` if one is empty, negative, out of order, or adjacent to the previous
    /// one.
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
