import Crypto
package import FerryCore
import FerryServer

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A path of the gateway that represents a file on another server, with its expected digest: `TAG/DIGEST/URL/NAME`.
///
/// An index names the files, which may be on any server. The tag proves that the gateway itself has created the link, so that
/// no other program can make the gateway request a URL. The tag does not change while the key exists, so clients may store
/// links.
package struct GatewayLink: Sendable, Hashable {
    /// The URL, without user info because links are not secret.
    package let url: DownloadURL
    package let checksum: Checksum?

    package init(_ url: DownloadURL, _ checksum: Checksum?) {
        self.url = url.with(nil)
        self.checksum = checksum
    }

    /// The key for the tags, derived from a text that only this user can read.
    package struct Key: Sendable {
        fileprivate let key: SymmetricKey

        package init(_ secret: String) { key = SymmetricKey(data: SHA256.hash(data: Array(secret.utf8))) }

        /// Returns an authentication code of a text, which nobody else can compute.
        func code(_ text: String) -> String {
            HexText.string(HMAC<SHA256>.authenticationCode(for: Array("page \(text)".utf8), using: key).prefix(16))
        }

        /// Reads the key that an earlier start has stored, or creates one. Throws `disk`.
        static func kept(in path: String) throws(DownloadError) -> Key {
            let file = PrivateFile(path, most: 4096)
            if let text = file.read(), text.utf8.count >= 32 { return Key(text) }
            file.keepUnreadable()
            let secret = SymmetricKey(size: .bits256).withUnsafeBytes { HexText.string($0) }
            try file.write(secret)
            return Key(secret)
        }
    }

    /// Returns the path. It ends with the last segment of the URL, from which clients read the name of the file.
    package func path(_ key: Key) -> String {
        let name = url.path.split(at: "/").last ?? "file"
        return "\(tag(key))/\(digest)/\(Self.encode(url.text))/\(name)"
    }

    /// Reads a path. If its name ends with `.metadata` and the URL's name does not, the path denotes the metadata file beside
    /// the linked one (PEP 658), which has a different digest. Returns `nil` for a path that was not created with this key.
    package init?(_ path: Substring, _ key: Key) {
        let parts = path.split(at: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, let text = Self.decode(parts[2]), let url = try? DownloadURL(text) else { return nil }
        let link = GatewayLink(url, try? Checksum(parsing: String(parts[1].replacing(".", by: "="))))
        guard Self.isSame(link.tag(key), parts[0]) else { return nil }
        // Different clients encode different characters of names.
        let name = PercentEncoding.decode((url.path.split(at: "/").last ?? "file").utf8)
        let asked = PercentEncoding.decode(parts[3].utf8)
        if asked == name {
            self = link
        } else if asked == name + Array(".metadata".utf8),
            let metadata = try? DownloadURL(
                "\(url.origin)\(url.path).metadata\(url.query.map { "?" + $0 } ?? "")")
        {
            self.init(metadata, nil)
        } else {
            return nil
        }
    }

    /// The digest, without characters that clients encode in paths.
    private var digest: String { checksum.map { "\($0.algorithm.rawValue).\($0.hex)" } ?? "-" }

    private func tag(_ key: Key) -> String {
        let text = "\(digest) \(url.text)"
        return HexText.string(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key.key).prefix(16))
    }

    /// Compares two strings in a time that does not depend on where they differ.
    private static func isSame(_ tag: String, _ other: Substring) -> Bool {
        tag.utf8.count == other.utf8.count && zip(tag.utf8, other.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func encode(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", by: "-").replacing("/", by: "_").replacing(
            "=", by: "")
    }

    private static func decode(_ text: Substring) -> String? {
        let plain = text.replacing("-", by: "+").replacing("_", by: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Data(base64Encoded: plain + padding).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
