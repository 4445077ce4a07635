/// Hexadecimal encoding.
enum Hex {
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension UInt32 {
    func rotated(right count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
