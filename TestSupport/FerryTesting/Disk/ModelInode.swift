import FerryCore
import FerryEngine

/// A file of the model, with its visible state and, separately, its durable one.
///
/// Data written since the last sync is kept as versions of each block: a power cut leaves any of them, or a mixture
/// of two by sectors. The same applies to the length, and to times, mode and attributes, which `fdatasync` does not
/// write.
struct ModelInode: Sendable {
    static let blockSize = 4096
    static let sectorSize = 512

    /// Times, mode, owner and attributes.
    struct Dress: Hashable, Sendable {
        var mode: UInt16
        var owner: UInt32 = DiskImage.owner
        var modified: FileTime
        var attributes: [String: [UInt8]] = [:]
    }

    /// A value that may not be durable yet; `tag` is the step that created it.
    struct Version<Value: Sendable>: Sendable {
        var tag: Int
        var value: Value
    }

    /// The durable state.
    struct Stable: Sendable {
        var length: ByteCount = 0
        /// Missing blocks are zeros.
        var blocks: [Int: [UInt8]] = [:]
        var dress: Dress
    }

    let isDirectory: Bool
    var length: ByteCount = 0
    /// The visible blocks; empty or missing ones are zeros.
    var blocks: [Int: [UInt8]] = [:]
    var dress: Dress
    /// The number of reserved blocks.
    var reserved = 0
    /// The metadata if only the creation of the file is durable.
    let birth: Dress
    /// `nil` if not even the creation of the file is durable.
    var stable: Stable?
    var newBlocks: [Int: [Version<[UInt8]>]] = [:]
    var newLengths: [Version<ByteCount>] = []
    var newDresses: [Version<Dress>] = []

    init(isDirectory: Bool = false, mode: UInt16, modified: FileTime) {
        self.isDirectory = isDirectory
        dress = Dress(mode: mode, modified: modified)
        birth = dress
        if isDirectory { stable = Stable(dress: dress) }
    }

    var allocatedBlocks: Int { max(reserved, blocks.values.count { !$0.isEmpty }) }

    // MARK: Operations of programs

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, tag: Int) {
        guard !bytes.isEmpty else { return }
        var done = 0
        while done < bytes.count {
            let position = Int(offset) + done
            let (index, start) = (position / Self.blockSize, position % Self.blockSize)
            let count = min(bytes.count - done, Self.blockSize - start)
            var block = blocks[index] ?? []
            if block.isEmpty { block = [UInt8](repeating: 0, count: Self.blockSize) }
            block.withUnsafeMutableBytes { target in
                UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[done..<done + count]))
            }
            put(block, index, tag: tag)
            done += count
        }
        let end = offset + ByteCount(bytes.count)
        if end > length { set(length: end, tag: tag) }
    }

    mutating func truncate(to length: ByteCount, tag: Int) {
        if length < self.length {
            let (index, start) = (Int(length) / Self.blockSize, Int(length) % Self.blockSize)
            for gone in blocks.keys where gone > index || gone == index && start == 0 { put([], gone, tag: tag) }
            if start > 0, var block = blocks[index], !block.isEmpty {
                for place in start..<Self.blockSize { block[place] = 0 }
                put(block, index, tag: tag)
            }
            reserved = min(reserved, (Int(length) + Self.blockSize - 1) / Self.blockSize)
        }
        if length != self.length { set(length: length, tag: tag) }
    }

    mutating func reserve(_ length: ByteCount, tag: Int) {
        reserved = max(reserved, (Int(length) + Self.blockSize - 1) / Self.blockSize)
        if length > self.length { set(length: length, tag: tag) }
    }

    mutating func put(_ dress: Dress, tag: Int) {
        self.dress = dress
        newDresses.append(Version(tag: tag, value: dress))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) -> Int {
        guard offset < length else { return 0 }
        let count = Int(min(ByteCount(buffer.count), length - offset))
        var done = 0
        while done < count {
            let position = Int(offset) + done
            let (index, start) = (position / Self.blockSize, position % Self.blockSize)
            let part = min(count - done, Self.blockSize - start)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part])
            if let block = blocks[index], !block.isEmpty {
                block.withUnsafeBytes {
                    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + part]))
                }
            } else {
                for place in target.indices { target[place] = 0 }
            }
            done += part
        }
        return count
    }

    private mutating func put(_ block: [UInt8], _ index: Int, tag: Int) {
        blocks[index] = block
        newBlocks[index, default: []].append(Version(tag: tag, value: block))
    }

    private mutating func set(length: ByteCount, tag: Int) {
        self.length = length
        newLengths.append(Version(tag: tag, value: length))
    }

    // MARK: Syncs

    /// Makes data and length as of step `tag` durable; with `isFull` also the metadata.
    mutating func settle(upTo tag: Int, isFull: Bool) {
        var stable = self.stable ?? Stable(dress: birth)
        for (index, versions) in newBlocks {
            guard let last = versions.last(where: { $0.tag <= tag }) else { continue }
            stable.blocks[index] = last.value
            let rest = versions.filter { $0.tag > tag }
            newBlocks[index] = rest.isEmpty ? nil : rest
        }
        if let last = newLengths.last(where: { $0.tag <= tag }) { stable.length = last.value }
        newLengths.removeAll { $0.tag <= tag }
        if isFull {
            if let last = newDresses.last(where: { $0.tag <= tag }) { stable.dress = last.value }
            newDresses.removeAll { $0.tag <= tag }
        }
        self.stable = stable
    }

    /// Models a failed sync: data written since the last successful sync is marked as clean, but is lost.
    mutating func loseUnsynced() { newBlocks.removeAll() }

    /// Models a sync of the directory: the file exists durably, but is empty.
    mutating func settleBirth() {
        if stable == nil { stable = Stable(dress: birth) }
    }
}
