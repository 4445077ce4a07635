/// A key of `ferry watch`.
package enum WatchKey: Sendable, Hashable {
    case up, down, pause, resume, cancel, faster, slower, quit
    /// Any other key; withdraws a pending question.
    case other
}

/// Decodes terminal input into keys. Pure.
package struct KeyParser: Sendable, Hashable {
    private enum State: Sendable, Hashable { case plain, escape, sequence }
    private var state = State.plain

    package init() {}

    /// Returns the key that this byte completes; `nil` within a sequence.
    package mutating func take(_ byte: UInt8) -> WatchKey? {
        switch state {
        case .plain:
            if byte == 0x1B {
                state = .escape
                return nil
            }
            return Self.key(byte)
        case .escape:
            // CSI, or SS3 from terminals in application mode.
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") {
                state = .sequence
                return nil
            }
            state = .plain
            return byte == 0x1B ? .other : Self.key(byte)
        case .sequence:
            // Parameter bytes precede the final byte.
            guard (0x40...0x7E).contains(byte) else { return nil }
            state = .plain
            switch byte {
            case UInt8(ascii: "A"): return .up
            case UInt8(ascii: "B"): return .down
            default: return .other
            }
        }
    }

    private static func key(_ byte: UInt8) -> WatchKey {
        switch byte {
        case UInt8(ascii: "k"): .up
        case UInt8(ascii: "j"): .down
        case UInt8(ascii: "p"): .pause
        case UInt8(ascii: "r"): .resume
        case UInt8(ascii: "c"): .cancel
        case UInt8(ascii: "+"), UInt8(ascii: "="): .faster
        case UInt8(ascii: "-"): .slower
        case UInt8(ascii: "q"): .quit
        default: .other
        }
    }
}
