package import HTTPTypes

/// Parses a list of files to download: one URL per line, or aria2's format with mirrors and options.
///
/// The list arrives in pieces, and each entry is returned once it is complete, so memory does not grow with the list.
///
/// Empty lines and lines that start with `#` are skipped. URLs on one line, separated by tabs or spaces, are mirrors of
/// one file; other texts between tabs are columns. A line that starts with `{` is a ``ListObject``. Lines that start
/// with white space are options of the preceding URL: `out=`, `dir=`, `checksum=`, `header=`. Invalid mirrors and
/// unknown options are dropped. An option with an invalid value drops its whole entry, because a download without that
/// option is not what the list requests.
package struct URLList: Sendable {
    /// One file.
    package struct Entry: Sendable, Hashable {
        /// The source and its mirrors; never empty.
        package var urls: [DownloadURL]
        /// The file name, from `out=`.
        package var out: String?
        /// The directory, from `dir=`.
        package var dir: String?
        /// The expected digest, from `checksum=`.
        package var checksum: Checksum?
        /// The required size of the file, from a ``Metalink``.
        package var size: ByteCount?
        /// The digests of the file's pieces, from a ``Metalink``.
        package var pieces: PieceDigests?
        /// The header fields, from each `header=`.
        package var headers = HTTPFields()
        /// Columns of the list that are returned with the file's result: texts, or an object from a line of JSON; `nil`
        /// if there are none.
        package var columns: JSONValue?
        /// The line of the URL, counted from 1.
        package var line: Int

        package init(urls: [DownloadURL], line: Int) { (self.urls, self.line) = (urls, line) }
    }

    /// A line that cannot be used.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The line, counted from 1.
        package let line: Int
        /// One line, without a full stop and without secrets.
        package let reason: Reason
        package var message: String { reason.description }

        package init(line: Int, reason: Reason) { (self.line, self.reason) = (line, reason) }

        /// `line 3: message`.
        package var whole: Reason { "line \(line): \(reason)" }
        package var description: String { whole.description }
    }

    package enum Item: Sendable, Hashable {
        case entry(Entry)
        case problem(Problem)
    }

    /// The line that starts an entry.
    package struct Place: Sendable, Hashable {
        /// The number of the line, counted from 1.
        package var line: Int
        /// The offset of the line's first byte in the list.
        package var offset: Int

        package init(line: Int, offset: Int) { (self.line, self.offset) = (line, offset) }
    }

    /// The entry of an earlier list that an entry of a results file refers to.
    package struct Earlier: Sendable, Hashable {
        /// The number of the list, counted from 1; `nil` if there was only one.
        package var list: Int?
        /// The line, counted from 1; `nil` for a command-line argument.
        package var line: Int?

        package init(list: Int?, line: Int?) { (self.list, self.line) = (list, line) }
    }

    /// An item and the entry that it belongs to.
    package struct Found: Sendable, Hashable {
        package let item: Item
        package let place: Place
        /// Whether the entry ends with the item, because it is complete or dropped by a problem.
        package let endsEntry: Bool
        /// The first URL of an entry that a problem drops; `nil` if none of its URLs is usable.
        package let url: DownloadURL?
        /// The columns of an entry that a problem drops.
        package let columns: JSONValue?
        /// The earlier entry that an entry of a results file refers to.
        package let earlier: Earlier?

        package init(
            _ item: Item, at place: Place, endsEntry: Bool, url: DownloadURL? = nil, columns: JSONValue? = nil,
            earlier: Earlier? = nil
        ) {
            (self.item, self.place, self.endsEntry, self.url) = (item, place, endsEntry, url)
            (self.columns, self.earlier) = (columns, earlier)
        }
    }

    /// The maximum length of a line, in bytes.
    package static let mostLineBytes = 1 << 20
    /// The maximum length of a line of JSON, in bytes. Parsing a line takes a hundred times its size in memory.
    package static let mostObjectBytes = 128 << 10
    /// The maximum size of the columns of an entry, in bytes.
    package static let mostColumnBytes = 16 << 10
    /// The maximum number of header fields of an entry.
    package static let mostHeaders = 100

    /// Parses a line of JSON; returns `nil` for a line that is not JSON.
    package typealias Parser = @Sendable (ArraySlice<UInt8>) -> JSONValue?

    /// The maximum nesting depth of a line of JSON.
    private static let mostDepth = 8

    private let parse: Parser?
    private var lines: TextLines
    private var isWhole = false
    /// Items that are parsed but not yet returned; at most those of one line.
    private var found: ArraySlice<Found> = []
    /// The entry that following options apply to; `nil` after a malformed one, so that its options are dropped.
    private var current: Entry?
    /// The columns of the current entry, even of a malformed one.
    private var columns: JSONValue?
    /// The line that starts the current entry.
    private var place = Place(line: 1, offset: 0)
    private var isSkipping = false
    /// Whether the list is in another character encoding, so that no line of it is read.
    private var isForeign = false

    /// - Parameters:
    ///   - place: The first added line; `nil` for the first line of the list.
    ///   - parse: The parser for lines of JSON; `nil` if JSON is not supported.
    package init(startingAt place: Place? = nil, parse: Parser? = nil) {
        self.parse = parse
        lines = TextLines(
            mostBytes: Self.mostLineBytes, startingAt: place?.offset ?? 0, after: (place?.line ?? 1) - 1)
    }

    /// Adds the next bytes of the list.
    package mutating func append(_ bytes: some Collection<UInt8>) { lines.append(bytes) }

    /// Declares the list complete.
    package mutating func finish() {
        lines.finish()
        isWhole = true
    }

    /// Returns the next entry or problem; `nil` if more bytes are needed, or at the end of the list.
    package mutating func next() -> Item? { nextFound()?.item }

    /// Returns the item that ``next()`` returns, with its entry.
    package mutating func nextFound() -> Found? {
        while found.isEmpty, let line = lines.next() { read(line) }
        if found.isEmpty, isWhole { flush() }
        return found.popFirst()
    }

    /// Returns the number of entries in the bytes so far, including invalid ones.
    package mutating func countEntries() -> Int {
        var count = 0
        while let line = lines.next() {
            isForeign = isForeign || line.number == 1 && Self.isUTF16(line.bytes)
            if !isForeign, Self.kind(line.bytes) == .urls { count += 1 }
        }
        return count
    }

    // MARK: Lines

    private enum Kind {
        case nothing
        case urls
        case option
    }

    private static func kind(_ line: ArraySlice<UInt8>) -> Kind {
        let content = line.drop(while: ASCII.isWhiteSpace)
        guard let first = content.first, first != UInt8(ascii: "#") else { return .nothing }
        guard ASCII.isBlank(line[line.startIndex]) else { return .urls }
        return beginsURL(String(decoding: content.prefix(8), as: UTF8.self)) ? .urls : .option
    }

    private static func beginsURL(_ text: String) -> Bool {
        let start = text.asciiLowercased
        return DownloadURL.Scheme.allCases.contains { start.utf8.hasPrefix("\($0.rawValue)://") }
    }

    /// Whether a text starts like UTF-16: with a byte order mark, or with ASCII in units of two bytes.
    package static func isUTF16(_ bytes: ArraySlice<UInt8>) -> Bool {
        let start = Array(bytes.prefix(2))
        guard start.count == 2 else { return false }
        return start == [0xFF, 0xFE] || start == [0xFE, 0xFF] || (start[0] == 0) != (start[1] == 0)
    }

    private mutating func read(_ line: TextLines.Line) {
        if isForeign { return }
        if line.number == 1, Self.isUTF16(line.bytes) {
            isForeign = true
            return report("the list is in UTF-16; save it as UTF-8", line: line.number, endsEntry: true)
        }
        if line.isTooLong {
            flush()
            isSkipping = true
            place = Place(line: line.number, offset: line.offset)
            return report("the line is longer than 1 MiB", line: line.number, endsEntry: true)
        }
        switch Self.kind(line.bytes) {
        case .nothing: break
        case .option: readOption(line.text, line: line.number)
        case .urls:
            flush()
            place = Place(line: line.number, offset: line.offset)
            if let parse, line.bytes.first == UInt8(ascii: "{") {
                guard line.bytes.count <= Self.mostObjectBytes else {
                    return leaveOut("the object has more than 128 KiB", line: line.number)
                }
                let isShallow = JSONStructure.isShallow(line.bytes, depth: Self.mostDepth)
                return readObject(isShallow ? parse(line.bytes) : nil, line: line.number)
            }
            readURLs(line.text, line: line.number)
        }
    }

    private mutating func report(_ reason: Reason, line: Int, endsEntry: Bool = false) {
        let problem = Problem(line: line, reason: reason)
        found.append(
            Found(.problem(problem), at: place, endsEntry: endsEntry, url: current?.urls.first, columns: columns))
    }

    private mutating func flush() {
        if let current { found.append(Found(.entry(current), at: place, endsEntry: true)) }
        (current, columns) = (nil, nil)
    }

    /// Drops the current entry, with the options that follow.
    private mutating func leaveOut(_ reason: Reason, line: Int) {
        report(reason, line: line, endsEntry: true)
        (current, columns, isSkipping) = (nil, nil, true)
    }

    private mutating func readURLs(_ text: Substring, line: Int) {
        let fields = text.split(at: "\t", omittingEmptySubsequences: false)
        // A text after the first URL that is not meant as a URL is a column.
        let isColumn = fields.indices.map { $0 > 0 && !Self.isMeantAsURL(fields[$0]) }
        let parts = zip(fields, isColumn).flatMap { $1 ? [] : Self.separate($0) }
        let texts = zip(fields, isColumn).compactMap { $1 ? $0.trimmedText : nil }
        columns = texts.allSatisfy(\.isEmpty) ? nil : .list(texts.map { .text($0) })
        begin(parts, line: line)
    }

    private mutating func readObject(_ value: JSONValue?, line: Int) {
        do throws(TextError) {
            let object = try ListObject(value)
            columns = object.columns
            begin(object.urls, line: line)
            if current == nil { return }
            for option in object.options { try apply(option.name, option.value, line: line) }
        } catch { leaveOut(error.reason, line: line) }
    }

    /// Starts the entry of these URLs, with the columns of its line.
    private mutating func begin(_ parts: [String], line: Int) {
        // A result may contain only `mostColumnBytes` of columns.
        let hasMany = columns.map { $0.textBytes > Self.mostColumnBytes } == true
        if hasMany { columns = nil }
        var urls: [DownloadURL] = []
        if parts.count > DownloadRequest.mostSources {
            report(
                "a file has at most \(DownloadRequest.mostSources) URLs; the rest of the line is left out", line: line)
        }
        var reasons: [Reason] = []
        for part in parts.prefix(DownloadRequest.mostSources) {
            // It would be another URL.
            if NameText.isDamaged(part) {
                reasons.append("a URL is not in UTF-8; save the list as UTF-8")
                continue
            }
            do {
                let url = try DownloadURL(part)
                if !urls.contains(url) { urls.append(url) }
            } catch {
                reasons.append(error.reason)
            }
        }
        for (index, reason) in reasons.enumerated() {
            report(reason, line: line, endsEntry: urls.isEmpty && index == reasons.count - 1)
        }
        isSkipping = urls.isEmpty
        current = urls.isEmpty ? nil : Entry(urls: urls, line: line)
        current?.columns = columns
        if hasMany, current != nil { leaveOut("the columns of the line have more than 16 KiB", line: line) }
    }

    /// Whether a text between tabs is meant as a URL, and is therefore reported if it is malformed.
    private static func isMeantAsURL(_ field: Substring) -> Bool {
        let text = field.trimmedText
        return beginsURL(text) || text.split(at: " ").first?.utf8.contains("://") == true
    }

    /// Splits a text at the spaces before a scheme; other spaces belong to a URL.
    private static func separate(_ text: Substring) -> [String] {
        var parts: [String] = []
        for word in text.trimmedText.split(at: " ", omittingEmptySubsequences: false) {
            if parts.isEmpty || beginsURL(String(word)) {
                parts.append(String(word))
            } else {
                parts[parts.count - 1] += " " + word
            }
        }
        return parts.map(\.trimmedText).filter { !$0.isEmpty }
    }

    private mutating func readOption(_ text: Substring, line: Int) {
        guard current != nil else {
            if !isSkipping { report("this option has no URL above it", line: line) }
            return
        }
        let bytes = text.utf8
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            return report("an option is written as name=value, this one has no =", line: line)
        }
        let name = text[..<equals].trimmedText.asciiLowercased
        let value = text[bytes.index(after: equals)...].trimmedText
        do {
            try apply(name, value, line: line)
        } catch { leaveOut(error.reason, line: line) }
    }

    private mutating func apply(_ name: String, _ value: String, line: Int) throws(TextError) {
        guard !NameText.isDamaged(value) else { throw TextError("the option is not in UTF-8; save the list as UTF-8") }
        switch name {
        case "out": current?.out = try Self.path(value, of: name)
        case "dir": current?.dir = try Self.path(value, of: name)
        case "checksum": current?.checksum = try Checksum(parsing: value)
        case "header":
            let field = try HeaderLine.parse(value)
            guard current.map({ $0.headers.count < Self.mostHeaders }) ?? true else {
                throw TextError("a file has at most \(Self.mostHeaders) header fields")
            }
            current?.headers.append(field)
        default: report("unknown option \(TextError.quote(name)): use out, dir, checksum or header", line: line)
        }
    }

    private static func path(_ value: String, of name: String) throws(TextError) -> String {
        guard !value.isEmpty else { throw TextError("the option \(name) has no value") }
        guard !value.utf8.contains(0) else { throw TextError("the option \(name) has a NUL byte in it") }
        return value
    }
}
