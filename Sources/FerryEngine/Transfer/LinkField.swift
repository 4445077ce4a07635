package import FerryCore
import HTTPTypes

/// The links that responses declare for their file (RFC 8288, RFC 6249): mirrors with
/// `Link: <URL>; rel=duplicate; pri=1`, and Metalink documents with
/// `rel=describedby; type="application/metalink4+xml"`. Malformed links are ignored.
package struct LinkField: Sendable, Hashable {
    /// The maximum number of mirrors that are accepted from responses.
    package static let mostMirrors = 10
    /// The maximum number of bytes that are read from a document.
    static let mostDescriptionBytes = 4 << 20
    private static let mostBytes = 16 << 10
    /// The priority of a mirror that has none (RFC 6249 §3.1).
    private static let lowestPriority: ByteCount = 999_999

    private struct Mirror: Hashable {
        var url: DownloadURL
        var priority: ByteCount
    }

    private var found: [Mirror] = []
    /// The documents that describe the file, in order.
    package private(set) var descriptions: [DownloadURL] = []

    package init() {}

    /// Adds the links of a response from `url`: the final response, or a redirect before it.
    package mutating func add(_ head: ResponseHead, from url: DownloadURL) {
        guard let name = HTTPField.Name("Link") else { return }
        let text = head.values(name).joined(separator: ",")
        guard !text.isEmpty, text.utf8.count <= Self.mostBytes else { return }
        var reader = Reader(rest: Array(text.utf8)[...])
        while let link = reader.next() {
            guard let target = try? url.resolving(link.target) else { continue }
            if link.relations.contains("describedby"), link.type == "application/metalink4+xml" {
                descriptions.append(target)
            }
            guard link.relations.contains("duplicate") else { continue }
            let priority = link.priority.flatMap { ASCII.number($0.utf8) } ?? 0
            found.append(Mirror(url: target, priority: priority > 0 ? priority : Self.lowestPriority))
        }
    }

    /// The mirrors, by priority.
    package var mirrors: [DownloadURL] {
        // `sorted` keeps the order of elements with equal priority.
        found.sorted { $0.priority < $1.priority }.map(\.url)
    }

    /// Returns at most ``mostMirrors`` of the links. Excludes links in `known`, objects in a store (they are requested
    /// with the user's keys), unencrypted links from an encrypted source, and, if the source is public, addresses of
    /// this machine or its network.
    package static func usable(
        _ links: [DownloadURL], besides known: [DownloadURL], allowsDowngrade: Bool
    ) -> [DownloadURL] {
        guard !links.isEmpty, let source = known.first else { return [] }
        let isPrivate = PrivateAddress.kind(ofHost: source.host) != nil
        var usable: [DownloadURL] = []
        for url in links where usable.count < mostMirrors {
            let isSafe = source.scheme != .https || url.scheme == .https || allowsDowngrade
            guard isSafe, !url.isObject, isPrivate || PrivateAddress.kind(ofHost: url.host) == nil,
                !known.contains(where: { $0.text == url.text }), !usable.contains(url)
            else { continue }
            usable.append(url)
        }
        return usable
    }

    private struct Link {
        var target: String
        var relations: [String] = []
        var priority: String?
        var type: String?
    }

    /// Reads `<URI>; name=value; name="value", <URI>…`.
    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func next() -> Link? {
            guard let start = rest.firstIndex(of: UInt8(ascii: "<")) else { return nil }
            rest = rest[(start + 1)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            var link = Link(target: String(decoding: rest[..<end], as: UTF8.self))
            rest = rest[(end + 1)...]
            while skipSpace(), rest.first == UInt8(ascii: ";") {
                rest = rest.dropFirst()
                guard let (name, value) = parameter() else { continue }
                switch name {
                // Only the first `rel` applies (RFC 8288 §3.3).
                case "rel" where link.relations.isEmpty:
                    link.relations = value.asciiLowercased.split(at: " ").map(String.init)
                case "pri": link.priority = value
                case "type" where link.type == nil: link.type = value.asciiLowercased
                default: break
                }
            }
            return link
        }

        /// Skips white space. Always returns true, so that it can be used in conditions.
        private mutating func skipSpace() -> Bool {
            rest = rest.drop(while: ASCII.isWhiteSpace)
            return true
        }

        private mutating func parameter() -> (name: String, value: String)? {
            _ = skipSpace()
            let name = rest.prefix(while: ASCII.isToken)
            rest = rest[name.endIndex...]
            _ = skipSpace()
            guard rest.first == UInt8(ascii: "=") else { return nil }
            rest = rest.dropFirst()
            _ = skipSpace()
            return (String(decoding: name, as: UTF8.self).asciiLowercased, value())
        }

        private mutating func value() -> String {
            guard rest.first == UInt8(ascii: "\"") else {
                let token = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
                rest = rest[token.endIndex...]
                return String(decoding: token, as: UTF8.self).trimmedText
            }
            rest = rest.dropFirst()
            var value: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
            }
            return String(decoding: value, as: UTF8.self)
        }
    }
}
