import FerryCore

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
    }

    private static func mend(_ pieces: [ArraySlice<UInt8>]) -> [UInt8] {
        var mender = ResponseHeadMender()
        mender.begin()
        return pieces.flatMap { mender.receive($0) } + mender.finish()
    }
}
