import Ferry
import FerryCore

extension FuzzTarget {
    /// The links of a page, which arrives in pieces.
    static func links(_ input: [UInt8]) throws(BrokenPromise) {
        guard let url = try? DownloadURL("http://host.example/pub/") else { return }
        func read(_ pieces: [ArraySlice<UInt8>], least: Int) -> [DownloadURL] {
            var reader = LinkReader(at: url, most: 1 << 20, mostBytes: 1 << 26, leastBytes: least)
            for piece in pieces { reader.append(piece) }
            reader.finish()
            return reader.links.map(\.url)
        }
        let whole = read([input[...]], least: 1)
        let middle = input.count / 2
        for least in [1, 16, 1 << 14] {
            try promise(
                read([input[..<middle], input[middle...]], least: least) == whole, "divided it has other links")
        }
        if input.count <= 512 {
            let bytes = input.indices.map { input[$0...$0] }
            try promise(read(bytes, least: 1) == whole, "byte by byte it has other links")
        }
        var bounded = LinkReader(at: url, most: 3, mostBytes: 200, leastBytes: 1)
        bounded.append(input)
        bounded.finish()
        try promise(
            bounded.links.count <= 3 && bounded.links.reduce(0) { $0 + $1.url.text.utf8.count } <= 200,
            "the bounds hold back nothing")
        try promise(whole.starts(with: bounded.links.map(\.url)), "with bounds the links are others")
        try promise(bounded.isFull || bounded.links.count == whole.count, "not full, and a link is missing")
    }
}
