/// One header field, with its name as sent.
public struct Field: Sendable, Hashable {
    /// The name, with its case preserved.
    public var name: String
    /// The value without surrounding whitespace.
    public var value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [Field] {
    /// The first value of a name, ignoring case. Setting replaces all fields of that name; nil removes them.
    public subscript(_ name: String) -> String? {
        get { first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            let at = firstIndex { $0.name.lowercased() == name.lowercased() }
            removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { insert(Field(name, newValue), at: Swift.min(at ?? count, count)) }
        }
    }
}

/// The head of a request. Parsed leniently, so that tests see the client's bytes.
public struct RequestHead: Sendable, Hashable {
    /// `GET`, `HEAD`, `CONNECT`…
    public var method: String
    /// The target as sent: `/path?query`, an absolute URL, or `host:port`.
    public var target: String
    /// `HTTP/1.1`.
    public var version: String
    /// The fields in the order sent.
    public var fields: [Field]

    /// Creates a head.
    public init(method: String = "GET", target: String, version: String = "HTTP/1.1", fields: [Field] = []) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }

    /// Parses the bytes before the empty line; nil if the first line does not have three words.
    public init?(_ bytes: some Sequence<UInt8>) {
        var lines = String(decoding: Array(bytes), as: UTF8.self).split(
            omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        guard !lines.isEmpty else { return nil }
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        method = String(words[0])
        target = String(words[1])
        version = String(words[2])
        fields = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return Field(String(line[..<colon]), Self.trimmed(line[line.index(after: colon)...]))
        }
    }

    /// The target up to `?`.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query's parameters, percent-decoded; `+` is not decoded.
    public var parameters: [(name: String, value: String)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return target[target.index(after: mark)...].split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(pair[0]), pair.count == 2 ? Self.decoded(pair[1]) : "")
        }
    }

    /// The first value of a field, ignoring case.
    public subscript(_ name: String) -> String? { fields[name] }

    /// Returns the same request without a field.
    public func without(_ name: String) -> RequestHead {
        var copy = self
        copy.fields[name] = nil
        return copy
    }

    /// Whether the client requests to close the connection after the response.
    var wantsClose: Bool {
        let connection = self["Connection"]?.lowercased() ?? ""
        return connection.contains("close") || (version == "HTTP/1.0" && !connection.contains("keep-alive"))
    }

    static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        let source = Array(text.utf8)
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let byte = UInt8(String(decoding: source[index + 1...index + 2], as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
