/// Random bytes and texts that are the same for the same seed (SplitMix64).
struct SeededBytes: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Up to `length` bytes: tokens of a parser, between bytes of any value.
    mutating func text(of pieces: [String], length: Int = 80) -> String {
        var bytes: [UInt8] = []
        while bytes.count < Int.random(in: 0...length, using: &self) {
            if Bool.random(using: &self), let piece = pieces.randomElement(using: &self) {
                bytes += Array(piece.utf8)
            } else {
                bytes.append(UInt8.random(in: 0...255, using: &self))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Bytes of which about half are tokens of the grammar under test.
    mutating func bytes(from pieces: [String], upTo count: Int = 40) -> [UInt8] {
        var output: [UInt8] = []
        for _ in 0..<Int.random(in: 0...count, using: &self) {
            if Bool.random(using: &self), let piece = pieces.randomElement(using: &self) {
                output += Array(piece.utf8)
            } else {
                output.append(UInt8.random(in: 0...255, using: &self))
            }
        }
        return output
    }

    mutating func text(from pieces: [String], upTo count: Int = 40) -> String {
        String(decoding: bytes(from: pieces, upTo: count), as: UTF8.self)
    }
}
