/// Domain and path matching of cookies (RFC 6265 §5.1).
enum CookieRules {
    /// Whether `host` is `domain` or a subdomain; an IP address matches only itself.
    static func host(_ host: String, matches domain: String) -> Bool {
        if host == domain { return true }
        guard host.utf8.count > domain.utf8.count, !isAddress(host) else { return false }
        return host.utf8.suffix(domain.utf8.count + 1).elementsEqual([UInt8(ascii: ".")] + Array(domain.utf8))
    }

    /// Whether the request's path is the cookie's path or below it.
    static func path(_ path: String, matches cookiePath: String) -> Bool {
        let path = path.utf8
        let prefix = cookiePath.utf8
        guard path.starts(with: prefix) else { return false }
        return path.count == prefix.count || prefix.last == UInt8(ascii: "/")
            || path.dropFirst(prefix.count).first == UInt8(ascii: "/")
    }

    /// The default path of a cookie: the directory of the request's path.
    static func defaultPath(_ path: String) -> String {
        let utf8 = path.utf8
        guard utf8.first == UInt8(ascii: "/"), let slash = utf8.lastIndex(of: UInt8(ascii: "/")),
            slash > utf8.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// The host and all its parent domains, longest first; for an IP address only itself.
    static func domains(of host: String) -> [String] {
        guard !isAddress(host) else { return [host] }
        var domains = [host]
        var rest = host.utf8[...]
        while let dot = rest.firstIndex(of: UInt8(ascii: ".")), domains.count < 128 {
            rest = rest[rest.index(after: dot)...]
            if !rest.isEmpty { domains.append(String(Substring(rest))) }
        }
        return domains
    }

    /// Whether anyone can register names directly below this domain: a single label, or a common second level of a
    /// country.
    ///
    /// This is a small part of the public suffix list, sufficient for short-lived jars.
    static func isPublicSuffix(_ domain: String) -> Bool {
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }) else { return true }
        guard labels.count == 2, labels[1].count == 2 else { return false }
        return secondLevels.contains(String(Substring(labels[0])))
    }

    static func isAddress(_ host: String) -> Bool { host.utf8.contains(UInt8(ascii: ":")) || HostName.isIPv4(host) }

    private static let secondLevels: Set<String> = [
        "ac", "co", "com", "edu", "go", "gob", "gov", "ltd", "me", "mil", "ne", "net", "nom", "or", "org", "plc", "sch",
    ]
}
