/// A key of `ferry watch`.
package enum WatchKey: Sendable, Hashable {
    case up, down, pageUp, pageDown, first, last, pause, resume, cancel, remove, faster, slower, quit
    /// The text of a search so far, empty at its beginning; `nil` after Esc, and after Return without text.
    case search(String?)
    /// Any other key, which withdraws a pending question.
    case other
}

/// Decodes terminal input into keys. Pure.
package struct KeyParser: Sendable, Hashable {
    private enum State: Sendable, Hashable {
        case plain, escape
        /// The payload is the number before the final byte.
        case sequence(Int)
        case search([UInt8])
    }
    private var state = State.plain

    package init() {}

    /// Returns the key that this byte completes; `nil` if it completes none.
    package mutating func take(_ byte: UInt8) -> WatchKey? {
        switch state {
        case .plain:
            switch byte {
            case 0x1B: state = .escape
            case UInt8(ascii: "/"):
                state = .search([])
                return .search("")
            default: return Self.key(byte)
            }
            return nil
        case .escape:
            // CSI, or SS3 from terminals in application mode.
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") {
                state = .sequence(0)
                return nil
            }
            state = .plain
            return byte == 0x1B ? .other : Self.key(byte)
        case .sequence(let number):
            // Parameter bytes precede the final byte.
            guard (0x40...0x7E).contains(byte) else {
                if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                    state = .sequence(min(999, number * 10 + Int(byte - UInt8(ascii: "0"))))
                }
                return nil
            }
            state = .plain
            switch (byte, number) {
            case (UInt8(ascii: "A"), _): return .up
            case (UInt8(ascii: "B"), _): return .down
            case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), 1), (UInt8(ascii: "~"), 7): return .first
            case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), 4), (UInt8(ascii: "~"), 8): return .last
            case (UInt8(ascii: "~"), 5): return .pageUp
            case (UInt8(ascii: "~"), 6): return .pageDown
            default: return .other
            }
        case .search(var text):
            switch byte {
            case 0x0A, 0x0D, 0x1B:
                state = .plain
                return byte == 0x1B || text.isEmpty ? .search(nil) : nil
            case 0x08, 0x7F: while let last = text.popLast(), last & 0xC0 == 0x80 {}
            case 0x15: text = []
            default: if byte >= 0x20, text.count < 200 { text.append(byte) }
            }
            state = .search(text)
            return .search(String(decoding: text, as: UTF8.self))
        }
    }

    private static func key(_ byte: UInt8) -> WatchKey {
        switch byte {
        case UInt8(ascii: "k"): .up
        case UInt8(ascii: "j"): .down
        case UInt8(ascii: "g"): .first
        case UInt8(ascii: "G"): .last
        case UInt8(ascii: "p"): .pause
        case UInt8(ascii: "r"): .resume
        case UInt8(ascii: "c"): .cancel
        case UInt8(ascii: "d"): .remove
        case UInt8(ascii: "+"), UInt8(ascii: "="): .faster
        case UInt8(ascii: "-"): .slower
        case UInt8(ascii: "q"): .quit
        default: .other
        }
    }
}
