/// A decoder for GB 18030 and GBK, which Chinese servers use for names that are not UTF-8.
///
/// The table is included because Foundation lacks this encoding on Linux; it is built on first use.
enum GB18030 {
    /// Decodes bytes; `nil` if any code has no standard character.
    static func decode(_ bytes: [UInt8]) -> String? {
        var scalars = String.UnicodeScalarView()
        var index = 0
        while index < bytes.count {
            let lead = bytes[index]
            if lead < 0x80 {
                scalars.append(Unicode.Scalar(lead))
                index += 1
                continue
            }
            guard lead != 0x80, lead != 0xFF, bytes.count - index > 1 else { return nil }
            let isFourBytes = ASCII.isDigit(bytes[index + 1])
            guard let scalar = isFourBytes ? fourBytes(bytes[index...].prefix(4)) : twoBytes(lead, bytes[index + 1])
            else { return nil }
            scalars.append(scalar)
            index += isFourBytes ? 4 : 2
        }
        return String(scalars)
    }

    private static func twoBytes(_ lead: UInt8, _ trail: UInt8) -> Unicode.Scalar? {
        guard trail >= 0x40, trail != 0x7F, trail != 0xFF else { return nil }
        let column = Int(trail) - (trail < 0x7F ? 0x40 : 0x41)
        // Most lead bytes have all 190 trail bytes in the table; in the user-defined zones, the upper 94 or the lower
        // 96 are missing.
        let row = Int(lead)
        let place: Int
        switch lead {
        case 0x81...0xA0: place = (row - 0x81) * 190 + column
        case 0xA1...0xA7 where column >= 96: place = 32 * 190 + (row - 0xA1) * 94 + column - 96
        case 0xA8...0xA9: place = 32 * 190 + 7 * 94 + (row - 0xA8) * 190 + column
        case 0xAA...0xAF where column < 96: place = 34 * 190 + 7 * 94 + (row - 0xAA) * 96 + column
        case 0xB0...0xF7: place = 34 * 190 + 7 * 94 + 6 * 96 + (row - 0xB0) * 190 + column
        case 0xF8...0xFE where column < 96: place = 106 * 190 + 7 * 94 + 6 * 96 + (row - 0xF8) * 96 + column
        default: return nil
        }
        guard place < twoByteCodes.count, twoByteCodes[place] != noCharacter else { return nil }
        return Unicode.Scalar(twoByteCodes[place])
    }

    private static func fourBytes(_ code: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let code = Array(code)
        guard code.count == 4, ASCII.isDigit(code[1]), code[2] >= 0x81, code[2] != 0xFF, ASCII.isDigit(code[3])
        else { return nil }
        let high = (Int(code[0]) - 0x81) * 10 + Int(code[1]) - 0x30
        let place = (high * 126 + Int(code[2]) - 0x81) * 10 + Int(code[3]) - 0x30
        if place < fourByteCodes.count {
            return fourByteCodes[place] == noCharacter ? nil : Unicode.Scalar(fourByteCodes[place])
        }
        // From 0x90308130 on, the supplementary planes follow in order.
        guard place >= 189_000 else { return nil }
        return Unicode.Scalar(UInt32(0x10000 + place - 189_000))
    }

    private static let noCharacter = UInt16(0x5F)

    private static let twoByteCodes: [UInt16] = "\(twoByteCharacters)".unicodeScalars.map {
        UInt16(truncatingIfNeeded: $0.value)
    }

    /// The code points of the BMP without two-byte codes, in order. The 4332 of the private-use area are ``noCharacter``.
    private static let fourByteCodes: [UInt16] = {
        var isTaken = [Bool](repeating: false, count: 0x10000)
        for code in twoByteCodes { isTaken[Int(code)] = true }
        let free = { (range: Range<Int>) in range.filter { !isTaken[$0] }.map { UInt16($0) } }
        return free(0x80..<0xD800) + Array(repeating: noCharacter, count: 4332) + free(0xF900..<0x10000)
    }()
}
