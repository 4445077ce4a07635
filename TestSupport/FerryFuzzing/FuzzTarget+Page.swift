import FerryCore

extension FuzzTarget {
    /// The first bytes of a body.
    static func page(_ input: [UInt8]) throws(BrokenPromise) {
        let whole = PageSniffer.judge(input, isWhole: true)
        try promise(whole != .undecided, "undecided at its end")
        // A decision does not change when more bytes arrive.
        var seen: PageSniffer.Verdict?
        for count in stride(from: 0, through: min(input.count, 256), by: 1) {
            let verdict = PageSniffer.judge(Array(input[..<count]), isWhole: false)
            if let seen, seen != .undecided { try promise(verdict == seen, "\(verdict) after \(seen) at \(count)") }
            seen = verdict
        }
        if let seen, seen != .undecided { try promise(whole == seen, "\(whole) after \(seen)") }
        try promise(
            PageSniffer.judge(Array(input.prefix(PageSniffer.mostBytes)), isWhole: false) == whole
                || input.count < PageSniffer.mostBytes, "undecided by \(PageSniffer.mostBytes) bytes")
        // Leading white space only affects the recognition of a byte order mark.
        if input.first.map({ $0 < 0x80 }) ?? false, input.count < 1000 {
            try promise(
                PageSniffer.judge(Array("\r\n\t ".utf8) + input, isWhole: true) == whole, "white space counts")
        }
    }
}
