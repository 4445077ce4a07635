/// Selects and judges the blocks of partial content that are compared with the server's bytes.
package enum SamplePlan {
    package static let blockBytes: ByteCount = 64 * 1024
    /// The number of blocks to compare.
    package static let blocks = 16
    /// The minimum number of non-constant blocks for a proof: a block of one repeated byte proves nothing.
    package static let needed = 4
    /// Partial content smaller than this is compared completely.
    package static let allBelow: ByteCount = 1024 * 1024

    /// Returns the blocks to compare: both ends of the extent and random blocks inside `held`, or all blocks if `held` is
    /// small.
    ///
    /// The blocks are in ascending order. Each block is at most ``blockBytes`` long and inside `held`. `random` returns a
    /// number in 0..<n.
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
        // Too few random blocks were distinct, so the first unused ones are added.
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

    /// Returns the block that contains the n-th byte of `range`; blocks are aligned to the start of the range.
    private static func block(at index: ByteCount, of range: Range<ByteCount>) -> Range<ByteCount> {
        let start = range.lowerBound + index / blockBytes * blockBytes
        return start..<start + min(blockBytes, range.upperBound - start)
    }

    /// Returns the block that contains the n-th byte of `held`.
    private static func block(holding index: ByteCount, in held: RangeSet<ByteCount>) -> Range<ByteCount>? {
        var left = index
        for range in held.ranges {
            let count = range.upperBound - range.lowerBound
            if left < count { return block(at: left, of: range) }
            left -= count
        }
        return nil
    }

    /// Returns the validators that the responses to two samples share; `nil` if they belong to different
    /// representations.
    ///
    /// Some servers create a new tag for each response. If date and length are equal, such a tag is ignored.
    package static func common(_ first: FileIdentity, _ next: FileIdentity) -> FileIdentity? {
        if first.hasSameTag(as: next) { return next }
        guard first.lastModified != nil, first.lastModified == next.lastModified, first.totalBytes != nil,
            first.totalBytes == next.totalBytes
        else { return nil }
        var common = next
        common.etag = nil
        return common
    }

    /// The result of a comparison.
    package enum Outcome: Hashable, Sendable {
        case equal, different
        case inconclusive(Reason)
    }

    /// Judges compared blocks. If all of the partial content was compared, few or constant blocks suffice.
    package static func judge(_ blocks: [(isEqual: Bool, isConstant: Bool)], comparedAll: Bool) -> Outcome {
        if blocks.contains(where: { !$0.isEqual }) { return .different }
        if comparedAll && !blocks.isEmpty { return .equal }
        return blocks.count { !$0.isConstant } >= needed ? .equal : .inconclusive(Reason(.tooLittle))
    }
}
