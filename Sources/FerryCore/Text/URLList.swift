public import HTTPTypes

/// A list of files to download, one URL per line, or in aria2's format with mirrors and options.
public struct URLList: Sendable, Hashable {
    /// One file.
    public struct Entry: Sendable, Hashable {
        /// The source and its mirrors; never empty.
        public var urls: [DownloadURL]
        /// The file name, from `out=`.
        public var out: String?
        /// The directory, from `dir=`.
        public var dir: String?
        /// The expected digest, from `checksum=`.
        public var checksum: Checksum?
        /// The header fields, from each `header=`.
        public var headers = HTTPFields()
        /// The line of the URL, counted from 1.
        public var line: Int
    }

    /// A line that cannot be used.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The line, counted from 1.
        public let line: Int
        /// One line without a full stop, without secrets.
        public let message: String

        /// `line 3: message`.
        public var description: String { "line \(line): \(message)" }
    }

    /// The files, in the order of the list.
    public private(set) var entries: [Entry] = []
    /// The malformed lines, in the order of the list.
    public private(set) var problems: [Problem] = []

    /// The entry that following options apply to; `nil` after a malformed one, so that its options are dropped.
    private var current: Entry?
    private var isSkipping = false

    /// Parses the whole text.
    ///
    /// Empty lines and lines beginning with `#` are skipped. Tab-separated URLs on one line are mirrors of one file.
    /// Lines beginning with white space are options of the preceding URL: `out=`, `dir=`, `checksum=`, `header=`.
    /// Invalid mirrors and unknown options are dropped; an option with an invalid value drops its whole entry, because
    /// a download without that option is not what the list requests.
    public init(_ text: String) {
        for line in TextLines(text).lines {
            let content = line.text.trimmedText
            if content.isEmpty || content.utf8.first == UInt8(ascii: "#") { continue }
            let isIndented = line.text.utf8.first.map(ASCII.isBlank) ?? false
            if isIndented, !Self.isURL(content) {
                readOption(line.text, line: line.number)
            } else {
                flush()
                readURLs(line.text, line: line.number)
            }
        }
        flush()
    }

    private mutating func flush() {
        if let current { entries.append(current) }
        current = nil
    }

    private mutating func readURLs(_ text: Substring, line: Int) {
        var urls: [DownloadURL] = []
        for part in text.utf8.split(separator: 0x09) {
            let text = Substring(part).trimmedText
            if text.isEmpty { continue }
            guard urls.count < DownloadRequest.mostSources else {
                let message = "a file has at most \(DownloadRequest.mostSources) URLs; the rest of the line is left out"
                problems.append(Problem(line: line, message: message))
                break
            }
            do {
                let url = try DownloadURL(text)
                if !urls.contains(url) { urls.append(url) }
            } catch {
                problems.append(Problem(line: line, message: error.message))
            }
        }
        isSkipping = urls.isEmpty
        current = urls.isEmpty ? nil : Entry(urls: urls, line: line)
    }

    private mutating func readOption(_ text: Substring, line: Int) {
        guard current != nil else {
            if !isSkipping { problems.append(Problem(line: line, message: "this option has no URL above it")) }
            return
        }
        let bytes = text.utf8
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            problems.append(Problem(line: line, message: "an option is written as name=value, this one has no ="))
            return
        }
        let name = text[..<equals].trimmedText.asciiLowercased
        let value = text[bytes.index(after: equals)...].trimmedText
        do {
            try apply(name, value, line: line)
        } catch {
            problems.append(Problem(line: line, message: error.message))
            current = nil
            isSkipping = true
        }
    }

    private mutating func apply(_ name: String, _ value: String, line: Int) throws(TextError) {
        switch name {
        case "out": current?.out = try Self.path(value, of: name)
        case "dir": current?.dir = try Self.path(value, of: name)
        case "checksum": current?.checksum = try Checksum(parsing: value)
        case "header": current?.headers.append(try HeaderLine.parse(value))
        default:
            let message = "unknown option \(TextError.quote(name)): use out, dir, checksum or header"
            problems.append(Problem(line: line, message: message))
        }
    }

    private static func path(_ value: String, of name: String) throws(TextError) -> String {
        guard !value.isEmpty else { throw TextError("the option \(name) has no value") }
        guard !value.utf8.contains(0) else { throw TextError("the option \(name) has a NUL byte in it") }
        return value
    }

    /// Whether an indented line is nevertheless a URL.
    private static func isURL(_ content: String) -> Bool {
        let start = String(decoding: content.utf8.prefix(8), as: UTF8.self).asciiLowercased
        return start.utf8.hasPrefix("http://") || start.utf8.hasPrefix("https://")
    }
}
