/// The content of an xz file (the .xz file format 1.2.1) whose only filter is LZMA2. Pure.
struct XZContent {
    static let magic: [UInt8] = [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    /// The maximum size of the dictionary, which is that of the highest preset.
    private static let mostWindow = 64 << 20

    private enum Place { case betweenBlocks, inBlock, ended }
    private let file: [UInt8]
    private var position = 12
    private var place = Place.betweenBlocks
    /// The size of the integrity check after each block, in bytes.
    private let checkBytes: Int
    private var window = ExpansionWindow(size: 0)
    private var decoder = LZMADecoder()
    /// Whether the next chunk must reset the dictionary. ``needsProperties``: whether it must set the properties.
    private var needsDictionary = true
    private var needsProperties = true

    init(_ file: [UInt8]) throws(ExpansionError) {
        guard file.count >= 12, file.starts(with: Self.magic), file[6] == 0, file[7] < 16 else { throw .damaged }
        self.file = file
        checkBytes = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64][Int(file[7])]
    }

    mutating func next() throws(ExpansionError) -> [UInt8]? {
        while true {
            switch place {
            case .ended: return nil
            case .betweenBlocks: try beginBlock()
            case .inBlock:
                try readChunk()
                if window.pending > 0 { return window.take() }
            }
        }
    }

    // MARK: Input

    private mutating func byte() throws(ExpansionError) -> UInt8 {
        guard position < file.count else { throw .damaged }
        defer { position += 1 }
        return file[position]
    }

    private mutating func bigEndian() throws(ExpansionError) -> Int {
        let high = try byte()
        let low = try byte()
        return Int(high) << 8 | Int(low)
    }

    private mutating func number() throws(ExpansionError) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<9 as Range<UInt64> {
            let byte = try byte()
            value |= UInt64(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        throw .damaged
    }

    // MARK: Blocks

    private mutating func beginBlock() throws(ExpansionError) {
        let start = position
        let size = try byte()
        guard size != 0 else {
            // The index begins, so no block follows.
            place = .ended
            return
        }
        let end = start + (Int(size) + 1) * 4
        let flags = try byte()
        guard flags & 0x3C == 0 else { throw .damaged }
        guard flags & 3 == 0 else { throw .unsupported }
        if flags & 0x40 != 0 { _ = try number() }
        if flags & 0x80 != 0 { _ = try number() }
        let filter = try number()
        let propertyBytes = try number()
        let property = try byte()
        guard filter == 0x21, propertyBytes == 1 else { throw .unsupported }
        guard property <= 40, position <= end, end <= file.count else { throw .damaged }
        let dictionary = property == 40 ? Int(UInt32.max) : (2 | Int(property & 1)) << (Int(property) / 2 + 11)
        guard dictionary <= Self.mostWindow else { throw .tooLarge }
        window = ExpansionWindow(size: dictionary)
        (needsDictionary, needsProperties) = (true, true)
        position = end
        place = .inBlock
    }

    /// Reads one chunk of LZMA2.
    private mutating func readChunk() throws(ExpansionError) {
        let control = try byte()
        switch control {
        case 0:
            position += (4 - position % 4) % 4 + checkBytes
            place = .betweenBlocks
        case 1, 2:
            let count = try bigEndian() + 1
            try reset(dictionary: control == 1)
            guard count <= file.count - position else { throw .damaged }
            window.append(file[position..<position + count])
            decoder.skip(count)
            position += count
        case 0x80...:
            let low = try bigEndian()
            let contentCount = Int(control & 0x1F) << 16 + low + 1
            let count = try bigEndian() + 1
            let resets = control >> 5 & 3
            try reset(dictionary: resets == 3)
            if resets >= 2 {
                let properties = try byte()
                guard decoder.set(properties: properties) else { throw .damaged }
                needsProperties = false
            }
            guard !needsProperties, count <= file.count - position else { throw .damaged }
            if resets >= 1 { decoder.resetState() }
            try decoder.read(file, position..<position + count, contentCount, into: &window)
            position += count
        default: throw .damaged
        }
    }

    private mutating func reset(dictionary: Bool) throws(ExpansionError) {
        if dictionary {
            window.reset()
            decoder.resetPosition()
            needsDictionary = false
        }
        guard !needsDictionary else { throw .damaged }
    }
}

/// A decoder for LZMA, according to the author's specification (LZMA SDK, lzma-specification.txt). Pure.
struct LZMADecoder {
    private var lc = 0
    private var lp = 0
    private var pb = 0
    private var state = 0
    private var repeats = [0, 0, 0, 0]
    /// The number of bytes since the dictionary was reset.
    private var count = 0
    private var probabilities = [UInt16](repeating: Self.half, count: Table.literals + 0x300 << 4)
    // The state of the range decoder, and its input.
    private var range: UInt32 = 0
    private var code: UInt32 = 0
    private var position = 0
    private var end = 0

    private static let half: UInt16 = 1 << 10

    /// The start indexes of the tables in `probabilities`.
    private enum Table {
        static let isMatch = 0
        static let isRepeat = isMatch + 12 << 4
        static let isRepeat0 = isRepeat + 12
        static let isRepeat1 = isRepeat0 + 12
        static let isRepeat2 = isRepeat1 + 12
        static let isLongRepeat0 = isRepeat2 + 12
        static let slots = isLongRepeat0 + 12 << 4
        static let distances = slots + 4 << 6
        static let alignment = distances + 128
        static let lengths = alignment + 16
        static let repeatLengths = lengths + lengthCount
        static let literals = repeatLengths + lengthCount
        /// The size of a table of lengths: 2 choices, 16 tables of 8 each for low and for middle lengths, and 256 for high ones.
        static let lengthCount = 2 + 16 << 3 + 16 << 3 + 256
    }

    /// Sets the properties of literals and positions. Returns whether LZMA2 permits them.
    mutating func set(properties: UInt8) -> Bool {
        guard properties < 225 else { return false }
        let value = Int(properties)
        (lc, lp, pb) = (value % 9, value / 9 % 5, value / 45)
        return lc + lp <= 4
    }

    mutating func resetState() {
        state = 0
        repeats = [0, 0, 0, 0]
        for index in probabilities.indices { probabilities[index] = Self.half }
    }

    mutating func resetPosition() { count = 0 }

    /// Counts bytes that were stored uncompressed.
    mutating func skip(_ bytes: Int) { count += bytes }

    /// Decodes one chunk.
    mutating func read(
        _ file: [UInt8], _ part: Range<Int>, _ contentCount: Int, into window: inout ExpansionWindow
    ) throws(ExpansionError) {
        (position, end) = (part.lowerBound, part.upperBound)
        guard part.count >= 5, file[position] == 0 else { throw .damaged }
        range = .max
        code = file[position + 1..<position + 5].reduce(0) { $0 << 8 | UInt32($1) }
        position += 5
        let last = count + contentCount
        while count < last {
            let positionState = count & (1 << pb - 1)
            if bit(file, Table.isMatch + state << 4 + positionState) == 0 {
                literal(file, &window)
                count += 1
                continue
            }
            let length: Int
            if bit(file, Table.isRepeat + state) == 0 {
                repeats = [0, repeats[0], repeats[1], repeats[2]]
                length = self.length(file, Table.lengths, positionState)
                state = state < 7 ? 7 : 10
                repeats[0] = distance(file, length)
            } else if let known = repeated(file, positionState) {
                length = known
            } else {
                state = state < 7 ? 9 : 11
                length = 1
            }
            // A match must end within its chunk, and LZMA2 has no end marker.
            guard length <= last - count, repeats[0] < count, window.copy(length, from: repeats[0] + 1) else {
                throw .damaged
            }
            count += length
            guard position <= end else { throw .damaged }
        }
        guard position <= end else { throw .damaged }
    }

    // MARK: Range decoder

    private mutating func normalize(_ file: [UInt8]) {
        guard range < 1 << 24 else { return }
        range <<= 8
        code = code << 8 | (position < end ? UInt32(file[position]) : 0)
        position += 1
    }

    private mutating func bit(_ file: [UInt8], _ index: Int) -> Int {
        normalize(file)
        let probability = probabilities[index]
        let bound = (range >> 11) * UInt32(probability)
        if code < bound {
            range = bound
            probabilities[index] = probability + (1 << 11 - probability) >> 5
            return 0
        }
        range -= bound
        code -= bound
        probabilities[index] = probability - probability >> 5
        return 1
    }

    private mutating func directBits(_ file: [UInt8], _ count: Int) -> Int {
        var value = 0
        for _ in 0..<count {
            normalize(file)
            range >>= 1
            let isOne = code >= range
            if isOne { code -= range }
            value = value << 1 | (isOne ? 1 : 0)
        }
        return value
    }

    private mutating func tree(_ file: [UInt8], _ start: Int, bits: Int) -> Int {
        var node = 1
        for _ in 0..<bits { node = node << 1 | bit(file, start + node) }
        return node - 1 << bits
    }

    private mutating func reversedTree(_ file: [UInt8], _ start: Int, bits: Int) -> Int {
        var (node, value) = (1, 0)
        for index in 0..<bits {
            let one = bit(file, start + node)
            node = node << 1 | one
            value |= one << index
        }
        return value
    }

    // MARK: Symbols

    private mutating func literal(_ file: [UInt8], _ window: inout ExpansionWindow) {
        let before = count == 0 ? 0 : Int(window.last)
        let context = (count & (1 << lp - 1)) << lc + before >> (8 - lc)
        let start = Table.literals + 0x300 * context
        var symbol = 1
        if state >= 7 {
            var match = Int(window.byte(at: repeats[0] + 1) ?? 0)
            while symbol < 0x100 {
                let matchBit = match >> 7 & 1
                match <<= 1
                let one = bit(file, start + (1 + matchBit) << 8 + symbol)
                symbol = symbol << 1 | one
                if one != matchBit { break }
            }
        }
        while symbol < 0x100 { symbol = symbol << 1 | bit(file, start + symbol) }
        window.append(UInt8(truncatingIfNeeded: symbol))
        state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6
    }

    /// Reads which of the last distances is repeated, and returns the length; `nil` for one byte at the last distance.
    private mutating func repeated(_ file: [UInt8], _ positionState: Int) -> Int? {
        if bit(file, Table.isRepeat0 + state) == 0 {
            if bit(file, Table.isLongRepeat0 + state << 4 + positionState) == 0 { return nil }
        } else {
            var index = 1
            if bit(file, Table.isRepeat1 + state) == 1 { index = 2 + bit(file, Table.isRepeat2 + state) }
            let chosen = repeats.remove(at: index)
            repeats.insert(chosen, at: 0)
        }
        let length = length(file, Table.repeatLengths, positionState)
        state = state < 7 ? 8 : 11
        return length
    }

    private mutating func length(_ file: [UInt8], _ start: Int, _ positionState: Int) -> Int {
        if bit(file, start) == 0 { return 2 + tree(file, start + 2 + positionState << 3, bits: 3) }
        if bit(file, start + 1) == 0 { return 10 + tree(file, start + 130 + positionState << 3, bits: 3) }
        return 18 + tree(file, start + 258, bits: 8)
    }

    private mutating func distance(_ file: [UInt8], _ length: Int) -> Int {
        let slot = tree(file, Table.slots + min(length - 2, 3) << 6, bits: 6)
        guard slot >= 4 else { return slot }
        let bits = slot >> 1 - 1
        let base = (2 | slot & 1) << bits
        if slot < 14 { return base + reversedTree(file, Table.distances + base - slot, bits: bits) }
        return base + directBits(file, bits - 4) << 4 + reversedTree(file, Table.alignment, bits: 4)
    }
}
