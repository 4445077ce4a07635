package import FerryCore

/// Reads the links of a page while the page arrives. Memory holds only the links and the tag that is being read.
///
///     bytes ─► buffer ─► tags, one after another ─► links, each with its row
///                └─ an unfinished tag or row waits for more
///
/// The links do not depend on how the page is divided into pieces.
package struct LinkReader: Sendable {
    /// A link of a page.
    package struct Link: Sendable, Hashable {
        /// The target, resolved against the URL of the page or `<base>`.
        package var url: DownloadURL
        /// The index page's date and size for the file; `nil` on most pages.
        var row: IndexRow?
    }

    /// A place of the page that decides whether the page is the whole list of a directory.
    enum Mark: Sendable, Hashable {
        /// The start of an element that contains the entries of a directory.
        case listStart
        /// `</html>`.
        case documentEnd
        case other
    }

    package private(set) var links: [Link] = []
    /// Whether there were more links than the limits allow.
    package private(set) var isFull = false
    private let url: DownloadURL
    private var base: DownloadURL
    /// Whether a `<base>` was found. Only the first one counts (HTML §4.2.3), and it may be in a row that is parsed twice.
    private var hasBase = false
    private let most: Int
    private let mostBytes: Int
    private let leastBytes: Int
    /// The total size of the targets: with a long `<base>`, even a short page may have long links.
    private(set) var linkBytes = 0
    private var buffer: [UInt8] = []
    private var isInComment = false
    /// Whether the next bytes are the row of the last link.
    private var isInRow = false
    /// The last tag or text, other than white space and comments.
    private(set) var lastMark = Mark.other
    /// Whether the page has an empty list, as the pages of some servers for an empty directory do.
    private(set) var hasEmptyList = false
    /// Whether the page has a field for a password.
    private(set) var hasPasswordField = false
    /// Whether the page has the form of a list of a directory, and not that of a page to sign in. A list has a title such as
    /// `Index of /pub/`, a date and size beside a link, links in `<pre>`, or links that sort it, as the pages of nginx, Apache,
    /// lighttpd, Caddy, Python and Go. Any other page is a list if each link to an entry is written as the name of the entry, and
    /// the page has no form, field or button.
    var hasListForm: Bool {
        hasListMark || links.contains { $0.row != nil } || hasNamedEntry && !hasOtherEntry && !hasForm
    }
    private var hasListMark = false
    /// Whether a link is written as the name of a file with an extension, or of a directory with its slash.
    private var hasNamedEntry = false
    /// Whether a link to an entry is written in another way than as its name.
    private var hasOtherEntry = false
    private var hasForm = false
    private var isInPre = false
    /// A text of the page that is compared.
    private enum ComparedText {
        case title
        case entry(DownloadURL)
    }
    /// The kind of the text that is being read; `nil` for any other text.
    private var comparedText: ComparedText?
    /// The start of this text.
    private var comparedBytes: [UInt8] = []
    /// The number of bytes that the last read left in the buffer.
    private var unreadBytes = 0

    /// The maximum size of a tag in bytes.
    private static let mostTagBytes = 1 << 20
    /// The elements that contain the entries of a directory in the pages of common servers.
    private static let lists: Set<String> = ["ul", "ol", "pre", "tbody", "table"]
    /// How the titles of lists begin, in lower case: of nginx, Apache and lighttpd; Python and Tomcat; Jetty.
    private static let listTitles = ["index of ", "directory listing ", "directory: "]
    private static let mostComparedBytes = 1 << 10
    /// How the links begin that sort a page of Apache or Caddy.
    private static let sortLinks = ["?C=", "?sort=", "./?sort="]
    private static let commentStart = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)

    /// - Parameters:
    ///   - url: The URL of the page.
    ///   - most: The maximum number of links.
    ///   - mostBytes: The maximum number of bytes in all links together.
    ///   - leastBytes: The number of bytes that are collected before parsing.
    package init(at url: DownloadURL, most: Int, mostBytes: Int, leastBytes: Int = 16 << 10) {
        (self.url, base, self.most, self.mostBytes, self.leastBytes) = (url, url, most, mostBytes, leastBytes)
    }

    /// Adds the next bytes of the page.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        guard !isFull else { return }
        buffer += bytes
        // Unfinished text is parsed again only once it has doubled, so that the work does not grow with the square of a
        // tag's length.
        guard buffer.count >= max(leastBytes, 2 * unreadBytes) else { return }
        read(isEnd: false)
        unreadBytes = buffer.count
    }

    /// Parses the remaining bytes at the end of the page.
    package mutating func finish() {
        if !isFull { read(isEnd: true) }
        buffer = []
    }

    private mutating func read(isEnd: Bool) {
        let page = buffer
        var rest = page[...]
        // The bytes before this index are no longer needed.
        var done = 0
        defer { buffer.removeFirst(min(done, buffer.count)) }
        var rowStart = isInRow ? 0 : nil as Int?
        // The row, which follows `</a>`, is parsed again.
        if isInRow { (lastMark, comparedText, comparedBytes) = (.other, nil, []) }
        func endRow(_ end: Int, _ links: inout [Link]) {
            if let start = rowStart, !links.isEmpty { links[links.count - 1].row = IndexRow(page[start..<end]) }
            rowStart = nil
        }
        func wait(at index: Int) {
            // Only the start of a long row is read.
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
            passText(rest[..<start])
            rest = rest[start...]
            guard isEnd || rest.count >= Self.commentStart.count else { return wait(at: start) }
            if rest.starts(with: Self.commentStart) {
                endRow(start, &links)
                // allow(bytes): of bytes
                guard let end = rest.firstRange(of: Self.commentEnd)?.upperBound else {
                    (isInComment, isInRow) = (true, false)
                    // The dashes of the start may also be those of the end: `<!-->`.
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
            pass(tag)
            if tag.name == "a" { endRow(start, &links) }
            if rest.starts(with: "</a>".utf8) || rest.starts(with: "</A>".utf8) { rowStart = tag.text.endIndex }
            if tag.name == "a" || tag.name == "base", let text = tag.value(of: "href"),
                let target = try? base.resolving(text.trimmedText)
            {
                if tag.name == "a" {
                    if isInPre || Self.sortLinks.contains(where: { text.utf8.hasPrefix($0) }) { hasListMark = true }
                    if !hasListMark, SetPath.names(of: target, below: url) != nil { comparedText = .entry(target) }
                    // allow(size): the links are in memory, and few
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
        passText(rest)
        if isEnd { endRow(page.endIndex, &links) }
        wait(at: page.endIndex)
    }

    private mutating func passText(_ text: ArraySlice<UInt8>) {
        if comparedText != nil {
            comparedBytes.append(contentsOf: text.prefix(max(0, Self.mostComparedBytes - comparedBytes.count)))
        }
        if lastMark != .other, !text.allSatisfy(ASCII.isWhiteSpace) { lastMark = .other }
    }

    private mutating func pass(_ tag: HTMLTag) {
        let isEnd = tag.text.dropFirst().first == UInt8(ascii: "/")
        if isEnd, lastMark == .listStart { hasEmptyList = true }
        if tag.name == "input", tag.value(of: "type")?.asciiLowercased == "password" { hasPasswordField = true }
        let ended = isEnd ? String(decoding: tag.text.prefix(6), as: UTF8.self).asciiLowercased : ""
        compare(until: tag, ended)
        if ["form", "input", "button"].contains(tag.name) { hasForm = true }
        if tag.name == "pre" { isInPre = true } else if ended.utf8.hasPrefix("</pre") { isInPre = false }
        let isDocumentEnd = tag.isWhole && ended == "</html"
        lastMark = isDocumentEnd ? .documentEnd : Self.lists.contains(tag.name) ? .listStart : .other
    }

    /// Compares the text before a tag, if the tag ends the text.
    private mutating func compare(until tag: HTMLTag, _ ended: String) {
        switch comparedText {
        case .title:
            let title = comparedString.asciiLowercased
            if Self.listTitles.contains(where: { title.utf8.hasPrefix($0) }) { hasListMark = true }
        case .entry(let target):
            guard tag.name == "a" || ended.utf8.hasPrefix("</a") else { return }
            compare(comparedString, with: target)
        case nil: break
        }
        (comparedText, comparedBytes) = (tag.name == "title" ? .title : nil, [])
    }

    private var comparedString: String { HTMLTag.decode(comparedBytes[...]).trimmedText }

    private mutating func compare(_ text: String, with target: DownloadURL) {
        // The link of an icon.
        if text.isEmpty { return }
        let name = String(decoding: PercentEncoding.decode(target.path.utf8), as: UTF8.self)
        let isDirectory = name.utf8.hasSuffix("/")
        let last = name.split(at: "/").last.map(String.init) ?? ""
        if isDirectory, text.hasSameBytes(as: last + "/") {
            hasNamedEntry = true
        } else if !text.hasSameBytes(as: last) {
            hasOtherEntry = true
        } else if !isDirectory, PagePolicy.promise(of: last) == .file {
            hasNamedEntry = true
        }
    }
}
