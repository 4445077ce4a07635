/// Reads the links of a page while it arrives: memory has the links, and of the page the tag that is being read.
///
///     bytes ─► buffer ─► tags, one after another ─► links, each with its row
///                └─ an unfinished tag or row waits for more
///
/// The links do not depend on the pieces in which a page arrives.
package struct LinkReader: Sendable {
    /// A link of a page.
    package struct Link: Sendable, Hashable {
        /// The target, resolved against the URL of the page or `<base>`.
        package var url: DownloadURL
        /// What an index page says of the file; `nil` of most pages.
        package var row: IndexRow?
    }

    package private(set) var links: [Link] = []
    /// Whether there were more links than the limits allow.
    package private(set) var isFull = false
    private var base: DownloadURL
    /// Only the first `<base>` counts (HTML §4.2.3); a row that is read again may have it.
    private var hasBase = false
    private let most: Int
    private let mostBytes: Int
    private let leastBytes: Int
    /// The bytes of the targets: a short page may have links of any length, by a long `<base>`.
    package private(set) var linkBytes = 0
    private var buffer: [UInt8] = []
    private var isInComment = false
    /// Whether the next bytes are the row of the last link.
    private var isInRow = false
    /// The bytes that were left in the buffer by the last read.
    private var unreadBytes = 0

    /// The longest tag that is read.
    private static let mostTagBytes = 1 << 20
    private static let commentStart = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)

    /// - Parameters:
    ///   - url: The URL of the page.
    ///   - most: The maximum number of links.
    ///   - mostBytes: The maximum number of bytes in all of them.
    ///   - leastBytes: The number of bytes that are collected before they are read.
    package init(at url: DownloadURL, most: Int, mostBytes: Int, leastBytes: Int = 16 << 10) {
        (base, self.most, self.mostBytes, self.leastBytes) = (url, most, mostBytes, leastBytes)
    }

    /// Adds the next bytes of the page.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        guard !isFull else { return }
        buffer += bytes
        // What is unfinished is read again only once it has doubled, so that the work does not grow with the square of
        // a tag's length.
        guard buffer.count >= max(leastBytes, 2 * unreadBytes) else { return }
        read(isEnd: false)
        unreadBytes = buffer.count
    }

    /// Reads what is left at the end of the page.
    package mutating func finish() {
        if !isFull { read(isEnd: true) }
        buffer = []
    }

    private mutating func read(isEnd: Bool) {
        let page = buffer
        var rest = page[...]
        // Up to here nothing is needed any more.
        var done = 0
        defer { buffer.removeFirst(min(done, buffer.count)) }
        var rowStart = isInRow ? 0 : nil as Int?
        func endRow(_ end: Int, _ links: inout [Link]) {
            if let start = rowStart, !links.isEmpty { links[links.count - 1].row = IndexRow(page[start..<end]) }
            rowStart = nil
        }
        func wait(at index: Int) {
            // The beginning of a long row is all that is read of it.
            if let start = rowStart, index - start > IndexRow.mostBytes { endRow(index, &links) }
            isInRow = rowStart != nil
            done = rowStart ?? index
        }
        if isInComment {
            // allow(bytes): of bytes
            guard let end = rest.firstRange(of: Self.commentEnd)?.upperBound else {
                done = max(0, rest.endIndex - Self.commentEnd.count + 1)
                return
            }
            isInComment = false
            rest = rest[end...]
        }
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            guard isEnd || rest.count >= Self.commentStart.count else { return wait(at: start) }
            if rest.starts(with: Self.commentStart) {
                endRow(start, &links)
                // allow(bytes): of bytes
                guard let end = rest.firstRange(of: Self.commentEnd)?.upperBound else {
                    (isInComment, isInRow) = (true, false)
                    // The dashes of the start may be those of the end: `<!-->`.
                    done = rest.endIndex - Self.commentEnd.count + 1
                    return
                }
                rest = rest[end...]
                continue
            }
            let tag = HTMLTag(rest)
            guard isEnd || tag.isWhole else {
                isFull = rest.count > Self.mostTagBytes
                return wait(at: start)
            }
            if tag.name == "a" { endRow(start, &links) }
            if rest.starts(with: "</a>".utf8) || rest.starts(with: "</A>".utf8) { rowStart = tag.text.endIndex }
            if tag.name == "a" || tag.name == "base", let text = tag.value(of: "href"),
                let target = try? base.resolving(text.trimmedText)
            {
                if tag.name == "a" {
                    linkBytes += target.text.utf8.count
                    guard links.count < most, linkBytes <= mostBytes else {
                        isFull = true
                        return
                    }
                    links.append(Link(url: target))
                } else if !hasBase {
                    (base, hasBase) = (target, true)
                }
            }
            rest = rest[tag.text.endIndex...]
        }
        if isEnd { endRow(page.endIndex, &links) }
        wait(at: page.endIndex)
    }
}
