import struct Foundation.Date

/// A parsed `Set-Cookie` field (RFC 6265 §5.2).
struct SetCookie {
    var name: String
    var value: String
    var domain: String?
    var path: String?
    var secure = false
    var expires: Date?

    /// Returns `nil` when the field has no usable name, contains control bytes, or is too large.
    init?(_ field: String, now: Date) {
        guard !field.utf8.contains(where: { ASCII.isControl($0) && $0 != 0x09 }) else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = Substring(pair[..<equals]).trimmedText
        value = Substring(pair[pair.index(after: equals)...]).trimmedText
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= CookieJar.maxPairBytes else { return nil }

        var maxAge: Date?
        for part in parts.dropFirst().prefix(64) {
            let equals = part.firstIndex(of: UInt8(ascii: "="))
            let attribute = Substring(part[..<(equals ?? part.endIndex)]).trimmedText.asciiLowercased
            let text = equals.map { Substring(part[part.index(after: $0)...]).trimmedText } ?? ""
            guard text.utf8.count <= 1024 else { continue }
            switch attribute {
            case "expires": if let date = CookieDate.parse(text) { expires = date }
            case "max-age":
                guard let seconds = Self.seconds(text) else { continue }
                maxAge = seconds <= 0 ? .distantPast : now.addingTimeInterval(seconds)
            case "domain":
                let bare = text.utf8.first == UInt8(ascii: ".") ? String(text.dropFirst()) : text
                domain = bare.isEmpty ? nil : bare.asciiLowercased
            case "path": path = text.utf8.first == UInt8(ascii: "/") ? text : nil
            case "secure": secure = true
            default: break
            }
        }
        expires = maxAge ?? expires
    }

    /// Returns the cookie if `url` may set it, else `nil` (RFC 6265 §5.3, name prefixes of RFC 6265bis §5.7).
    func cookie(from url: DownloadURL) -> Cookie? {
        var cookieDomain = url.host
        var hostOnly = true
        if let domain, domain != url.host {
            guard !CookieRules.isPublicSuffix(domain), CookieRules.host(url.host, matches: domain) else { return nil }
            cookieDomain = domain
            hostOnly = false
        } else if let domain {
            hostOnly = CookieRules.isAddress(domain) || CookieRules.isPublicSuffix(domain)
        }
        guard !secure || url.scheme == .https else { return nil }
        let cookiePath = path ?? CookieRules.defaultPath(url.path)
        let prefix = name.asciiLowercased
        if prefix.utf8.hasPrefix("__secure-") && !secure { return nil }
        if prefix.utf8.hasPrefix("__host-") && !(secure && domain == nil && path == "/") { return nil }
        return Cookie(
            name: name, value: value, domain: cookieDomain, hostOnly: hostOnly, path: cookiePath, secure: secure,
            expires: expires)
    }

    /// Parses Max-Age, clamped to ±400 days (RFC 6265bis §5.5); `nil` when it is not an integer.
    private static func seconds(_ text: String) -> Double? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let longest = 400.0 * 86_400
        let size = ASCII.number(digits).map { min(longest, Double($0)) } ?? longest
        return isNegative ? -size : size
    }
}
