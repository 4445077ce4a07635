import Ferry
package import FerryCore

/// A page of a package index, whose links are replaced (PEP 503 in HTML, PEP 691 in JSON). Pure.
///
/// In HTML, only the values of `href` in `<a>` change, and `<base>` is removed. In JSON, only the `url` of each of the
/// `files` changes.
package struct IndexPage: Sendable {
    /// The URL of the page, against which links are resolved.
    package let url: DownloadURL
    /// Returns the text that replaces a link; `nil` to keep the link, as an absolute URL.
    package let replacement: @Sendable (_ target: DownloadURL, _ checksum: Checksum?) -> String?

    /// The maximum number of bytes of the new page.
    package let mostBytes: Int

    /// The error for a page that would exceed the maximum size.
    package struct TooLarge: Error {}

    package init(
        _ url: DownloadURL, most mostBytes: Int = 64 << 20,
        replacement: @escaping @Sendable (DownloadURL, Checksum?) -> String?
    ) {
        self.url = url
        self.mostBytes = mostBytes
        self.replacement = replacement
    }

    // MARK: JSON

    /// Returns the object with the `url` of each file replaced; a file without a usable URL is left out.
    package func rewriting(_ page: JSONValue) throws(TooLarge) -> JSONValue {
        var bytes = 0
        guard var members = page.members, let files = members["files"]?.items else { return page }
        var rewritten: [JSONValue] = []
        for file in files {
            guard var file = file.members, let text = file["url"]?.string, let target = try? url.resolving(text)
            else { continue }
            let digests = file["hashes"]?.members?.compactMap { name, value in
                value.string.flatMap { try? Checksum(parsing: "\(name)=\($0)") }
            }
            let strongest = digests?.max { $0.algorithm.strength < $1.algorithm.strength }
            let new = replacement(target, strongest) ?? target.text
            bytes += new.utf8.count
            guard bytes <= mostBytes else { throw TooLarge() }
            file["url"] = .text(new)
            rewritten.append(.object(file))
        }
        members["files"] = .list(rewritten)
        return .object(members)
    }

    // MARK: HTML

    /// Returns the page with each link replaced.
    package func rewriting(_ page: [UInt8]) throws(TooLarge) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(min(mostBytes, page.count * 2))
        var base = url
        var rest = page[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            output += rest[..<start]
            rest = rest[start...]
            if rest.starts(with: "<!--".utf8) {
                // Tags in a comment are ignored.
                // allow(bytes): of bytes
                let end = rest.firstRange(of: "-->")?.upperBound ?? rest.endIndex
                output += rest[..<end]
                rest = rest[end...]
                continue
            }
            let tag = HTMLTag(rest)
            switch tag.name {
            case "a": output += tag.text(replacing: "href") { link($0, base) }
            // `<base>` is left out, because links are now paths of the gateway.
            case "base":
                if let target = tag.value(of: "href").flatMap({ try? url.resolving($0) }) { base = target }
            default: output += tag.text
            }
            rest = rest[tag.text.endIndex...]
            guard output.count <= mostBytes else { throw TooLarge() }
        }
        guard output.count + rest.count <= mostBytes else { throw TooLarge() }
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
