/// The content of a gzip file (RFC 1952), decoded from DEFLATE (RFC 1951). Pure.
struct GzipContent {
    private enum Block {
        case none
        case stored(left: Int)
        case coded(lengths: HuffmanCode, distances: HuffmanCode)
    }
    private let file: [UInt8]
    private var position = 0
    private var bits: UInt64 = 0
    private var bitCount = 0
    private var block = Block.none
    private var isLastBlock = false
    private var hasEnded = false
    private var window = ExpansionWindow(size: 32 << 10)

    /// The minimum size of a piece, except the last one.
    private static let pieceBytes = 64 << 10

    init(_ file: [UInt8]) throws(ExpansionError) {
        self.file = file
        try readHeader()
    }

    mutating func next() throws(ExpansionError) -> [UInt8]? {
        while !hasEnded, window.pending < Self.pieceBytes { try step() }
        return window.pending == 0 ? nil : window.take()
    }

    // MARK: Input

    private mutating func readHeader() throws(ExpansionError) {
        guard file.count - position >= 10, file[position] == 0x1F, file[position + 1] == 0x8B, file[position + 2] == 8
        else { throw .damaged }
        let flags = file[position + 3]
        position += 10
        if flags & 4 != 0 {
            guard file.count - position >= 2 else { throw .damaged }
            position += 2 + Int(file[position]) + Int(file[position + 1]) << 8
        }
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard position < file.count, let end = file[position...].firstIndex(of: 0) else { throw .damaged }
            position = end + 1
        }
        if flags & 2 != 0 { position += 2 }
        guard position <= file.count else { throw .damaged }
    }

    /// Makes at least `count` bits available, with zeros after the end of the file.
    private mutating func fill(_ count: Int) {
        while bitCount < count {
            if position < file.count { bits |= UInt64(file[position]) << UInt64(bitCount) }
            position += 1
            bitCount += 8
        }
    }

    private mutating func drop(_ count: Int) throws(ExpansionError) {
        bits >>= UInt64(count)
        bitCount -= count
        // Whole bytes in the bit buffer have not been consumed yet.
        guard position - bitCount / 8 <= file.count else { throw .damaged }
    }

    private mutating func take(_ count: Int) throws(ExpansionError) -> Int {
        fill(count)
        let value = Int(bits & (1 << UInt64(count) - 1))
        try drop(count)
        return value
    }

    private mutating func symbol(_ code: HuffmanCode) throws(ExpansionError) -> Int {
        fill(HuffmanCode.mostLength)
        guard let (symbol, length) = code.symbol(Int(truncatingIfNeeded: bits)) else { throw .damaged }
        try drop(length)
        return symbol
    }

    // MARK: Blocks

    /// Reads a part of a block, or the beginning of one.
    private mutating func step() throws(ExpansionError) {
        switch block {
        case .none:
            if isLastBlock { try endMember() } else { try beginBlock() }
        case .stored(let left):
            let count = min(left, Self.pieceBytes, file.count - position)
            guard count > 0 || left == 0 else { throw .damaged }
            window.append(file[position..<position + count])
            position += count
            block = left == count ? .none : .stored(left: left - count)
        case .coded(let lengths, let distances): try readCoded(lengths, distances)
        }
    }

    private mutating func beginBlock() throws(ExpansionError) {
        isLastBlock = try take(1) == 1
        switch try take(2) {
        case 0:
            try alignToByte()
            guard file.count - position >= 4 else { throw .damaged }
            let count = Int(file[position]) | Int(file[position + 1]) << 8
            guard count ^ 0xFFFF == Int(file[position + 2]) | Int(file[position + 3]) << 8 else { throw .damaged }
            position += 4
            block = .stored(left: count)
        case 1: block = .coded(lengths: Self.fixedLengths, distances: Self.fixedDistances)
        case 2: block = try readCodes()
        default: throw .damaged
        }
    }

    private mutating func alignToByte() throws(ExpansionError) {
        try drop(bitCount % 8)
        position -= bitCount / 8
        (bits, bitCount) = (0, 0)
        guard position <= file.count else { throw .damaged }
    }

    /// Skips the checksum and size after the last block, and begins the next member if there is one.
    private mutating func endMember() throws(ExpansionError) {
        try alignToByte()
        guard file.count - position >= 8 else { throw .damaged }
        position += 8
        guard file.count - position >= 2, file[position] == 0x1F, file[position + 1] == 0x8B else {
            hasEnded = true
            return
        }
        try readHeader()
        isLastBlock = false
    }

    private mutating func readCoded(_ lengths: HuffmanCode, _ distances: HuffmanCode) throws(ExpansionError) {
        while window.pending < Self.pieceBytes {
            let symbol = try symbol(lengths)
            if symbol < 256 {
                window.append(UInt8(symbol))
            } else if symbol == 256 {
                block = .none
                return
            } else {
                guard symbol - 257 < Self.lengthBases.count else { throw .damaged }
                let count = Self.lengthBases[symbol - 257] + (try take(Self.lengthBits[symbol - 257]))
                let number = try self.symbol(distances)
                guard number < Self.distanceBases.count else { throw .damaged }
                let distance = Self.distanceBases[number] + (try take(Self.distanceBits[number]))
                guard distance <= 32 << 10, window.copy(count, from: distance) else { throw .damaged }
            }
        }
    }

    private mutating func readCodes() throws(ExpansionError) -> Block {
        let lengthCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let orderCount = try take(4) + 4
        var lengths = [UInt8](repeating: 0, count: 19)
        for index in 0..<orderCount { lengths[Self.order[index]] = UInt8(try take(3)) }
        let code = try HuffmanCode(lengths[...])
        var all: [UInt8] = []
        while all.count < lengthCount + distanceCount {
            let symbol = try symbol(code)
            switch symbol {
            case 0...15: all.append(UInt8(symbol))
            case 16:
                guard let last = all.last else { throw .damaged }
                all += Array(repeating: last, count: 3 + (try take(2)))
            case 17: all += Array(repeating: 0, count: 3 + (try take(3)))
            default: all += Array(repeating: 0, count: 11 + (try take(7)))
            }
        }
        guard all.count == lengthCount + distanceCount, all[256] != 0 else { throw .damaged }
        let first = try HuffmanCode(all[..<lengthCount])
        let second = try HuffmanCode(all[lengthCount...])
        return .coded(lengths: first, distances: second)
    }

    // MARK: Tables (RFC 1951 §3.2)

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12_289, 16_385, 24_577,
    ]
    private static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    private static let fixedLengths = HuffmanCode(
        complete: [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112)
            + [UInt8](repeating: 7, count: 24) + [UInt8](repeating: 8, count: 8))
    private static let fixedDistances = HuffmanCode(complete: [UInt8](repeating: 5, count: 32))
}

/// A canonical Huffman code (RFC 1951 §3.2.2), as a table of all bit strings of its maximum length. Pure.
struct HuffmanCode {
    static let mostLength = 15
    /// `symbol << 4 | length` for each bit string; 0 for a bit string without a symbol.
    private let table: [UInt16]

    /// Throws if no code can have these lengths. A code may have bit strings without a symbol.
    init(_ lengths: ArraySlice<UInt8>) throws(ExpansionError) {
        guard let table = Self.table(lengths) else { throw .damaged }
        self.table = table
    }

    /// Creates a code from lengths that are known to be valid.
    init(complete lengths: [UInt8]) {
        guard let table = Self.table(lengths[...]) else { preconditionFailure("no code has these lengths") }
        self.table = table
    }

    private static func table(_ lengths: ArraySlice<UInt8>) -> [UInt16]? {
        var counts = [Int](repeating: 0, count: mostLength + 1)
        for length in lengths { counts[Int(length)] += 1 }
        counts[0] = 0
        let greatest = counts.lastIndex { $0 > 0 } ?? 0
        var code = 0
        var nextCodes = [Int](repeating: 0, count: mostLength + 2)
        for length in 1...mostLength {
            code = (code + counts[length - 1]) << 1
            nextCodes[length] = code
            guard code + counts[length] <= 1 << length else { return nil }
        }
        var table = [UInt16](repeating: 0, count: 1 << greatest)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            let length = Int(length)
            var (rest, reversed) = (nextCodes[length], 0)
            nextCodes[length] += 1
            for _ in 0..<length {
                reversed = reversed << 1 | rest & 1
                rest >>= 1
            }
            for index in stride(from: reversed, to: table.count, by: 1 << length) {
                table[index] = UInt16(symbol << 4 | length)
            }
        }
        return table
    }

    /// Returns the symbol whose code is in the lowest bits, and the length of that code; `nil` if no symbol has such a code.
    func symbol(_ bits: Int) -> (symbol: Int, length: Int)? {
        let entry = Int(table[bits & (table.count - 1)])
        return entry == 0 ? nil : (entry >> 4, entry & 15)
    }
}
