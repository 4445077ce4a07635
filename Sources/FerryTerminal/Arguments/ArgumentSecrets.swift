import FerryCore

/// Finds the secrets in a command line: passwords, header values, and user info in URLs and proxies.
package enum ArgumentSecrets {
    /// Returns the byte ranges to hide in each argument.
    package static func ranges(in arguments: [[UInt8]]) -> [[Range<Int>]] {
        var option: String?
        return arguments.map { argument in
            if let name = option {
                option = nil
                return ranges(of: argument[...], for: name)
            }
            let text = String(decoding: argument, as: UTF8.self)
            if secretOptions.contains(text) {
                option = text
                return []
            }
            if text.utf8.hasPrefix("proxy=") { return proxyUserInfo(argument.dropFirst("proxy=".utf8.count)) }
            if let name = secretOptions.first(where: { text.utf8.hasPrefix($0 + "=") }) {
                return ranges(of: argument.dropFirst(name.utf8.count + 1), for: name)
            }
            return userInfo(argument[...])
        }
    }

    private static let secretOptions = ["--user", "--header", "--cookie", "--proxy", "-u", "-H", "-b"]

    private static func ranges(of value: ArraySlice<UInt8>, for option: String) -> [Range<Int>] {
        switch option {
        case "--header" where value.first == UInt8(ascii: "@"), "-H" where value.first == UInt8(ascii: "@"): []
        case "--proxy": proxyUserInfo(value)
        default: value.isEmpty ? [] : [value.indices]
        }
    }

    /// Returns the range from `://` to the last `@` of the authority, which ends at `/`, `?` or `#` (RFC 3986 §3.2).
    private static func userInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let start = afterScheme(text) else { return [] }
        let rest = text[start...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard let at = rest[..<(end ?? rest.endIndex)].lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [start..<at]
    }

    /// Returns the range up to the last `@`, as a proxy's password may contain a `/`.
    private static func proxyUserInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [(afterScheme(text[..<at]) ?? text.startIndex)..<at]
    }

    private static func afterScheme(_ text: ArraySlice<UInt8>) -> Int? {
        let separator = Array("://".utf8)
        return text.indices.first { text[$0...].starts(with: separator) }.map { $0 + separator.count }
    }
}
