import Ferry
package import FerryCore

/// The path of a file below its directory, from fields of its URL: `{host}/{url-sha256:2}/{stem}{ext}`.
///
/// After its fields are filled in, each component is made safe (``SafeName``), so no path leaves the directory, and none is
/// hidden. Only `{path}` can result in several components.
///
/// A template of names by content contains the digest of the file, `{sha256:2}/{sha256}`, and no field of the entry.
package struct NameTemplate: Sendable, Hashable {
    private enum Field: Hashable {
        case host, path, name, stem, ext, line, number
        case urlDigest(digits: Int)
        case digest(digits: Int)
    }

    private enum Part: Hashable {
        case text(String)
        case separator
        case field(Field)
    }

    private let parts: [Part]
    /// Whether files are named by content.
    let isOfContent: Bool
    /// Whether the path is only the name in the URL.
    var isName: Bool { parts == [.field(.name)] }
    /// The default template of names by content.
    static let content = "{sha256:2}/{sha256}"

    /// The fields, for messages.
    static let fields = "{host}, {path}, {name}, {stem}, {ext}, {line}, {n}, {url-sha256}, {url-sha256:DIGITS}"
    private static let urlDigest = "url-sha256"
    private static let digest = "sha256"
    private static let digestDigits = 64
    /// The maximum length of a path below the directory, in bytes.
    private static let mostBytes = 2048

    /// Parses a template.
    ///
    /// - Parameter isOfContent: Whether it contains the full digest of the file and no field of the entry. Default false.
    package init(parsing text: String, isOfContent: Bool = false) throws(UsageError) {
        var parts: [Part] = []
        var literal = ""
        func flush() {
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
        }
        var rest = text.unicodeScalars[...]
        while let next = rest.popFirst() {
            switch next {
            case "/":
                flush()
                parts.append(.separator)
            // allow(bytes): the elements are scalars.
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                literal.unicodeScalars.append(next)
            case "{":
                // allow(bytes): likewise.
                guard let end = rest.firstIndex(of: "}") else { throw Self.unclosed(text) }
                flush()
                parts.append(.field(try Self.field(String(rest[..<end]), text, isOfContent: isOfContent)))
                rest = rest[end...].dropFirst()
            case "}": throw Self.unclosed(text)
            default: literal.unicodeScalars.append(next)
            }
        }
        flush()
        let components = text.split(at: "/", omittingEmptySubsequences: false)
        guard components.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            throw UsageError(
                "--name \(text): write a path below the directory, without .. and without / at its start or end")
        }
        if isOfContent {
            guard parts.contains(.field(.digest(digits: Self.digestDigits))) else {
                throw UsageError("--dedup: --name needs \("{sha256}"), so that each content has a name of its own")
            }
            for (field, word) in [(Field.line, "{line}"), (.number, "{n}")] where parts.contains(.field(field)) {
                throw UsageError("--dedup: \(word) in --name would give each entry a file of its own")
            }
        }
        (self.parts, self.isOfContent) = (parts, isOfContent)
    }

    private static func unclosed(_ text: String) -> UsageError {
        UsageError("--name \(text): a brace is not closed; \("{{") stands for a brace")
    }

    private static func field(_ word: String, _ text: String, isOfContent: Bool) throws(UsageError) -> Field {
        switch word {
        case "host": return .host
        case "path": return .path
        case "name": return .name
        case "stem": return .stem
        case "ext": return .ext
        case "line": return .line
        case "n": return .number
        case urlDigest: return .urlDigest(digits: digestDigits)
        case digest where isOfContent: return .digest(digits: digestDigits)
        default: break
        }
        if let count = try digits(of: urlDigest, word, text) { return .urlDigest(digits: count) }
        if isOfContent, let count = try digits(of: digest, word, text) { return .digest(digits: count) }
        if word == digest || word.utf8.hasPrefix(digest + ":") {
            throw UsageError(
                "--name \(text): \("{\(word)}") is known only after the download and needs --dedup; \("{\(urlDigest)}") is that of the URL"
            )
        }
        throw UsageError("--name \(text): there is no field \("{\(word)}"); there are \(fields)")
    }

    /// Returns the number of digits that a field like `{sha256:2}` has; `nil` for another field.
    private static func digits(of name: String, _ word: String, _ text: String) throws(UsageError) -> Int? {
        guard let digits = word.dropping(prefix: name + ":") else { return nil }
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let count = Int(digits), 1...digestDigits ~= count
        else { throw UsageError("--name \(text): \("{\(name):…}") takes 1 to 64 digits") }
        return count
    }

    /// Returns the path of a file with this content, relative to its directory.
    ///
    /// - Parameter content: The SHA-256 of the file, 64 hexadecimal digits.
    package func path(for url: DownloadURL, content: String) throws(UsageError) -> String {
        try path(for: url, content, line: 0, number: 0)
    }

    /// Returns the path of a file, relative to its directory.
    package func path(for url: DownloadURL, line: Int, number: Int) throws(UsageError) -> String {
        try path(for: url, "", line: line, number: number)
    }

    private func path(
        for url: DownloadURL, _ content: String, line: Int, number: Int
    ) throws(UsageError) -> String {
        let name = SafeName.make(nil, url: url, finalURL: nil)
        var components = [""]
        for part in parts {
            switch part {
            case .text(let text): components[components.count - 1] += text
            case .separator: components.append("")
            case .field(.path):
                let directories = Self.directories(of: url)
                components[components.count - 1] += directories.first ?? ""
                components += directories.dropFirst()
            case .field(let field):
                components[components.count - 1] += Self.text(field, url, name, content, line: line, number: number)
            }
        }
        guard let last = components.last.flatMap(Self.safe) else { throw UsageError("--name gives no file name") }
        let path = (components.dropLast().compactMap(Self.safe) + [last]).joined(separator: "/")
        guard path.utf8.count <= Self.mostBytes else {
            throw UsageError("--name gives a path of more than \(Self.mostBytes) bytes")
        }
        return path
    }

    private static func text(
        _ field: Field, _ url: DownloadURL, _ name: String, _ content: String, line: Int, number: Int
    ) -> String {
        switch field {
        case .digest(let digits): String(content.prefix(digits))
        case .host: url.host
        case .path: ""
        case .name: name
        case .stem: FileExtension.split(name).stem
        case .ext: FileExtension.split(name).suffix
        case .line: String(line)
        case .number: String(number)
        case .urlDigest(let digits): String(SHA256Text.hex(url.text.utf8).prefix(digits))
        }
    }

    /// Returns the decoded segments of the URL's path, except the last.
    private static func directories(of url: DownloadURL) -> [String] {
        url.path.split(at: "/").dropLast(url.path.utf8.hasSuffix("/") ? 0 : 1).map { segment in
            let bytes = PercentEncoding.decode(segment.utf8)
            return NameText.decode(bytes) ?? NameText.latin1(bytes)
        }
    }

    /// Makes one component safe; `nil` if nothing is left of it.
    private static func safe(_ component: String) -> String? {
        var text = String.UnicodeScalarView()
        for scalar in component.unicodeScalars { text.append(scalar == "/" || scalar == "\\" ? "_" : scalar) }
        return SafeName.sanitize(String(text))
    }
}
