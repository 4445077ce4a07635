import FerryCore
import FerryEngine

/// The states that a power cut can leave.
extension ModelInode {
    /// How much unsynced data survives.
    enum Luck: Sendable {
        case none, all
        /// Each block independently; some are torn.
        case mixed
    }

    /// Returns the file after a power cut; the generator decides which unsynced data survives.
    func survivor(_ luck: Luck, using random: inout SeededGenerator) -> ModelInode {
        var found = ModelInode(isDirectory: isDirectory, mode: birth.mode, modified: birth.modified)
        let old = stable ?? Stable(dress: birth)
        found.dress = Self.pick(old.dress, newDresses, luck, &random)
        found.length = Self.pick(old.length, newLengths, luck, &random)
        found.blocks = old.blocks
        // Sorted, so that a seed always gives the same result.
        for index in newBlocks.keys.sorted() {
            let versions = newBlocks[index] ?? []
            var block = Self.pick(old.blocks[index] ?? [], versions, luck, &random)
            if luck == .mixed, Int.random(in: 0..<4, using: &random) == 0 {
                block = Self.torn(block, Self.pick(old.blocks[index] ?? [], versions, luck, &random), &random)
            }
            found.blocks[index] = block
        }
        found.cut(at: found.length)
        found.reserved = found.blocks.count
        found.stable = Stable(length: found.length, blocks: found.blocks, dress: found.dress)
        return found
    }

    /// Removes all data beyond the end of the file.
    private mutating func cut(at length: ByteCount) {
        let (last, start) = (Int(length) / Self.blockSize, Int(length) % Self.blockSize)
        blocks = blocks.filter { !$0.value.isEmpty && ($0.key < last || $0.key == last && start > 0) }
        guard start > 0, var block = blocks[last] else { return }
        for place in start..<Self.blockSize { block[place] = 0 }
        blocks[last] = block
    }

    private static func pick<Value>(
        _ old: Value, _ newer: [Version<Value>], _ luck: Luck, _ random: inout SeededGenerator
    ) -> Value {
        guard let last = newer.last else { return old }
        switch luck {
        case .none: return old
        case .all: return last.value
        case .mixed:
            let choice = Int.random(in: 0...newer.count, using: &random)
            return choice == 0 ? old : newer[choice - 1].value
        }
    }

    /// Mixes two versions of a block, sector by sector.
    private static func torn(_ one: [UInt8], _ other: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: blockSize)
        var block = one.isEmpty ? zeros : one
        let second = other.isEmpty ? zeros : other
        for sector in 0..<blockSize / sectorSize where Bool.random(using: &random) {
            let range = sector * sectorSize..<(sector + 1) * sectorSize
            block.replaceSubrange(range, with: second[range])
        }
        return block
    }

    // MARK: Queries

    /// Whether programs see these bytes of `file` in the range.
    func holds(_ file: FileBytes, _ range: Range<ByteCount>) -> Bool {
        range.upperBound <= length
            && parts(of: range) { index, part, offset in matches(blocks[index], file, part, offset) }
    }

    /// Whether every state that a power cut can leave has these bytes of `file` in the range.
    func keeps(_ file: FileBytes, _ range: Range<ByteCount>) -> Bool {
        guard let stable, range.upperBound <= stable.length else { return range.isEmpty }
        guard newLengths.allSatisfy({ range.upperBound <= $0.value }) else { return false }
        return parts(of: range) { index, part, offset in
            matches(stable.blocks[index], file, part, offset)
                && (newBlocks[index] ?? []).allSatisfy { matches($0.value, file, part, offset) }
        }
    }

    private func parts(of range: Range<ByteCount>, _ body: (Int, Range<Int>, ByteCount) -> Bool) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let (index, start) = (Int(offset) / Self.blockSize, Int(offset) % Self.blockSize)
            let count = min(Int(range.upperBound - offset), Self.blockSize - start)
            guard body(index, start..<start + count, offset) else { return false }
            offset += ByteCount(count)
        }
        return true
    }

    private func matches(_ block: [UInt8]?, _ file: FileBytes, _ part: Range<Int>, _ offset: ByteCount) -> Bool {
        let block = block.flatMap { $0.isEmpty ? nil : $0 } ?? [UInt8](repeating: 0, count: Self.blockSize)
        return block.withUnsafeBytes { file.equals(UnsafeRawBufferPointer(rebasing: $0[part]), at: offset) }
    }
}
