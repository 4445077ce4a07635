package import FerryCore
package import FerryAPI

/// A page of a package index, whose links are replaced (PEP 503 in HTML, PEP 691 in JSON). Pure.
///
/// Of HTML only the values of `href` in `<a>` change, and `<base>` loses its effect; of JSON only `url` of the `files`.
package struct IndexPage: Sendable {
    /// The URL of the page, against which links are resolved.
    package let url: DownloadURL
    /// The text that replaces a link; `nil` leaves it, as an absolute URL.
    package let replacement: @Sendable (_ target: DownloadURL, _ checksum: Checksum?) -> String?

    package init(
        _ url: DownloadURL, replacement: @escaping @Sendable (DownloadURL, Checksum?) -> String?
    ) {
        self.url = url
        self.replacement = replacement
    }

    // MARK: JSON

    /// Returns the object with the `url` of each file replaced; a file without a usable URL is left out.
    package func rewriting(_ page: JSONValue) -> JSONValue {
        guard var members = page.members, let files = members["files"]?.items else { return page }
        members["files"] = .list(
            files.compactMap { file in
                guard var file = file.members, let text = file["url"]?.string, let target = try? url.resolving(text)
                else { return nil }
                let digests = file["hashes"]?.members?.compactMap { name, value in
                    value.string.flatMap { try? Checksum(parsing: "\(name)=\($0)") }
                }
                let strongest = digests?.max { $0.algorithm.strength < $1.algorithm.strength }
                file["url"] = .text(replacement(target, strongest) ?? target.text)
                return .object(file)
            })
        return .object(members)
    }

    // MARK: HTML

    /// Returns the page with each link replaced.
    package func rewriting(_ page: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(page.count * 2)
        var base = url
        var rest = page[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            output += rest[..<start]
            rest = rest[start...]
            if rest.starts(with: "<!--".utf8) {
                // A comment has no tags.
                // allow(bytes): of bytes
                let end = rest.firstRange(of: "-->")?.upperBound ?? rest.endIndex
                output += rest[..<end]
                rest = rest[end...]
                continue
            }
            let tag = HTMLTag(rest)
            switch tag.name {
            case "a": output += tag.text(replacing: "href") { link($0, base) }
            case "base":
                if let target = tag.value(of: "href").flatMap({ try? url.resolving($0) }) { base = target }
            // Links are paths of the gateway now.
            default: output += tag.text
            }
            rest = rest[tag.text.endIndex...]
        }
        return output + rest
    }

    private func link(_ text: String, _ base: DownloadURL) -> String {
        let parts = text.split(at: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let target = try? base.resolving(String(parts[0])) else { return "#" }
        let fragment = parts.count > 1 ? parts[1] : ""
        let checksum = fragment.split(at: "&").lazy.compactMap { try? Checksum(parsing: String($0)) }.first
        let new = replacement(target, checksum) ?? target.text
        return fragment.isEmpty ? new : "\(new)#\(fragment)"
    }
}

/// One tag of HTML, from `<` to `>`.
struct HTMLTag {
    /// Its bytes.
    let text: ArraySlice<UInt8>
    /// In lower case; empty for what is no start tag.
    let name: String
    private let attributes: [(name: String, value: Range<Int>)]

    /// Reads the tag at the beginning of `page`; without an end it is all the rest.
    init(_ page: ArraySlice<UInt8>) {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
        var index = page.index(after: page.startIndex)
        func word(until isEnd: (UInt8) -> Bool) -> Range<Int> {
            let start = index
            while index < page.endIndex, !isEnd(page[index]) { index += 1 }
            return start..<index
        }
        func text(_ range: Range<Int>) -> String {
            String(decoding: page[range].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
        }
        let isEndOfName = { (byte: UInt8) in
            isBlank(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
        }
        name = text(word(until: isEndOfName))
        var attributes: [(String, Range<Int>)] = []
        while index < page.endIndex, page[index] != UInt8(ascii: ">") {
            guard !isBlank(page[index]), page[index] != UInt8(ascii: "/") else {
                index += 1
                continue
            }
            let start = index
            // An `=` at the beginning is of the name (HTML §13.2.5.32).
            if page[index] == UInt8(ascii: "=") { index += 1 }
            _ = word { isEndOfName($0) || $0 == UInt8(ascii: "=") }
            let attribute = text(start..<index)
            while index < page.endIndex, isBlank(page[index]) { index += 1 }
            guard index < page.endIndex, page[index] == UInt8(ascii: "=") else { continue }
            index += 1
            while index < page.endIndex, isBlank(page[index]) { index += 1 }
            guard index < page.endIndex else { break }
            let quote = page[index]
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                index += 1
                attributes.append((attribute, word { $0 == quote }))
                index = min(index + 1, page.endIndex)
            } else {
                attributes.append((attribute, word { isBlank($0) || $0 == UInt8(ascii: ">") }))
            }
        }
        self.attributes = attributes
        self.text = page[..<min(index + 1, page.endIndex)]
    }

    /// The value of an attribute, with references decoded.
    func value(of attribute: String) -> String? {
        attributes.first { $0.name == attribute }.map { Self.decode(text[$0.value]) }
    }

    /// The tag with the value of each attribute of this name replaced; it is quoted then.
    func text(replacing attribute: String, _ new: (String) -> String) -> [UInt8] {
        var output: [UInt8] = []
        var end = text.startIndex
        for (name, range) in attributes where name == attribute {
            let isQuoted = [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(text[range.lowerBound - 1])
            output += text[end..<(isQuoted ? range.lowerBound - 1 : range.lowerBound)]
            output += "\"\(Self.encode(new(Self.decode(text[range]))))\"".utf8
            end = min(isQuoted ? range.upperBound + 1 : range.upperBound, text.endIndex)
        }
        return output + text[end...]
    }

    private static let references = [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'")]

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        // `&` last, so that `&amp;lt;` is decoded once.
        return references.reversed().reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    private static func encode(_ text: String) -> String {
        references.reduce(text) { $0.replacing($1.1, with: $1.0) }
    }
}
