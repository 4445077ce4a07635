import FerryEngine

extension FuzzTarget {
    /// The bytes of a connection after a request.
    static func rawHead(_ input: [UInt8]) throws(BrokenPromise) {
        let whole = mend([input[...]])
        let middle = input.count / 2
        try promise(mend([input[..<middle], input[middle...]]) == whole, "divided bytes give another head")
        if input.count <= 1024 {
            let single = mend(input.indices.map { input[$0...$0] })
            try promise(single == whole, "single bytes give another head")
        }
        try promise(mend([whole[...]]) == whole, "a mended head is mended again")
        guard input.starts(with: "HTTP/".utf8), let end = headEnd(input) else { return }
        try promise(whole.count >= input.count - end, "bytes of the body are lost")
        try promise(whole.suffix(input.count - end) == input[end...], "the body is changed")
    }

    /// Returns the end of the first head if all its lines end with CR LF; `nil` for other heads, and for an interim one, which
    /// another head follows.
    private static func headEnd(_ input: [UInt8]) -> Int? {
        let words = input.prefix { $0 != 0x0A }.split(separator: 0x20)
        let mark = Array("\r\n\r\n".utf8)
        guard words.dropFirst().first?.first != UInt8(ascii: "1"),
            let found = input.indices.first(where: { input[$0...].starts(with: mark) }),
            // A line feed before that may end the head.
            input[..<found].split(separator: 0x0A).dropLast().allSatisfy({ $0.last == 0x0D && $0.count > 1 })
        else { return nil }
        return found + mark.count
    }

    private static func mend(_ pieces: [ArraySlice<UInt8>]) -> [UInt8] {
        var mender = ResponseHeadMender()
        mender.begin()
        return pieces.flatMap { mender.receive($0) ?? Array($0) } + mender.finish()
    }
}
