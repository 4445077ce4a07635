/// Which blocks of what is held are compared with what the server sends.
package enum SamplePlan {
    package static let blockBytes: ByteCount = 64 * 1024
    /// Blocks compared when enough is held.
    package static let blocks = 16
    /// Blocks of one repeated byte prove nothing; fewer others than this prove nothing either.
    package static let needed = 4
    /// When less than this is held, all of it is compared.
    package static let allBelow: ByteCount = 1024 * 1024

    /// The blocks to compare: both ends of the extent and random ones inside claims; all when little is held.
    ///
    /// Ascending by their starts, each at most ``blockBytes``, each wholly inside `held`. `random` gives numbers in 0..<n.
    package static func blocks(
        of held: RangeSet<ByteCount>, random: (ByteCount) -> ByteCount
    ) -> [Range<ByteCount>] {
        let total = held.byteCount
        var picked: [Range<ByteCount>] = []
        if total < allBelow {
            for range in held.ranges { picked += cut(range) }
            return picked
        }
        guard let first = held.ranges.first, let last = held.ranges.last else { return [] }
        picked.append(block(at: 0, of: first))
        picked.append(max(last.lowerBound, last.upperBound - blockBytes)..<last.upperBound)
        for _ in 0..<200 where picked.count < blocks {
            guard let block = block(holding: random(total), in: held) else { continue }
            if !picked.contains(where: { $0.overlaps(block) }) { picked.append(block) }
        }
        // Little more than ``allBelow`` is held, or chance was not kind: the first that are left.
        for range in held.ranges where picked.count < blocks {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: Int(blockBytes)) {
                if picked.count == blocks { break }
                let block = block(at: start - range.lowerBound, of: range)
                if !picked.contains(block) { picked.append(block) }
            }
        }
        return picked.sorted { $0.lowerBound < $1.lowerBound }
    }

    private static func cut(_ range: Range<ByteCount>) -> [Range<ByteCount>] {
        stride(from: range.lowerBound, to: range.upperBound, by: Int(blockBytes)).map {
            block(at: $0 - range.lowerBound, of: range)
        }
    }

    /// The block of this range that holds its n-th byte; blocks lie side by side from its start.
    private static func block(at index: ByteCount, of range: Range<ByteCount>) -> Range<ByteCount> {
        let start = range.lowerBound + index / blockBytes * blockBytes
        return start..<start + min(blockBytes, range.upperBound - start)
    }

    /// The block that holds the n-th held byte.
    private static func block(holding index: ByteCount, in held: RangeSet<ByteCount>) -> Range<ByteCount>? {
        var left = index
        for range in held.ranges {
            let count = range.upperBound - range.lowerBound
            if left < count { return block(at: left, of: range) }
            left -= count
        }
        return nil
    }

    /// The outcome of comparing.
    package enum Outcome: Hashable, Sendable { case equal, different, inconclusive }

    /// Judges compared blocks: (`equal`, `isConstant`) each. When all that is held was compared, constant blocks
    /// and few blocks are enough.
    package static func judge(_ blocks: [(isEqual: Bool, isConstant: Bool)], comparedAll: Bool) -> Outcome {
        if blocks.contains(where: { !$0.isEqual }) { return .different }
        if comparedAll && !blocks.isEmpty { return .equal }
        return blocks.count { !$0.isConstant } >= needed ? .equal : .inconclusive
    }
}
