import FerryGateway

extension FuzzTarget {
    /// A file that may be compressed with gzip or xz.
    static func expandedFile(_ input: [UInt8]) throws(BrokenPromise) {
        let most = 1 << 20
        let whole = expand(input, most: most)
        try promise(whole.bytes.count <= most, "\(whole.bytes.count) bytes")
        try promise(expand(input, most: most) == whole, "expanded again it is another content")
        guard whole.error == nil, !whole.bytes.isEmpty else { return }
        let bounded = expand(input, most: whole.bytes.count - 1)
        try promise(bounded.error == .tooLarge, "the bound holds back nothing: \(String(describing: bounded.error))")
        try promise(whole.bytes.starts(with: bounded.bytes), "with a bound the content begins otherwise")
    }

    private struct Expanded: Equatable {
        var bytes: [UInt8] = []
        var error: ExpansionError?
    }

    private static func expand(_ input: [UInt8], most: Int) -> Expanded {
        var found = Expanded()
        do throws(ExpansionError) {
            var content = try ExpandedFile(input, most: most)
            while let piece = try content.next() { found.bytes += piece }
        } catch { found.error = error }
        return found
    }

    /// An index of a Debian archive: the first byte chooses the kind.
    static func archiveIndex(_ input: [UInt8]) throws(BrokenPromise) {
        guard let first = input.first else { return }
        let kind: ArchiveIndex.Kind = first & 1 == 0 ? .packages : .release
        let text = Array(input.dropFirst())
        let whole = entries(kind, [text])
        let middle = text.count / 2
        try promise(
            entries(kind, [Array(text[..<middle]), Array(text[middle...])]) == whole, "divided it has other entries")
        try promise(whole.count <= text.count / 64, "\(whole.count) entries of \(text.count) bytes")
        try promise(whole.allSatisfy { $0.digest.count == 32 }, "a digest of another length")
    }

    private static func entries(_ kind: ArchiveIndex.Kind, _ pieces: [[UInt8]]) -> [ArchiveIndex.Entry] {
        var reader = ArchiveIndex.Reader(kind)
        var found: [ArchiveIndex.Entry] = []
        for piece in pieces { reader.read(piece) { found.append($0) } }
        reader.finish { found.append($0) }
        return found
    }
}
