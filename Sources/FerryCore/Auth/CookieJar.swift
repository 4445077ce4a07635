#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The cookies of a chain of requests: loaded from a file, or set by servers.
///
/// Cookies are sent only to URLs that match their domain (RFC 6265 §5).
public struct CookieJar: Sendable, Hashable {
    /// The numbers of the file's lines that contain no usable cookie, counted from 1.
    public internal(set) var skippedLines: [Int] = []

    /// Cookies by domain, in the order of creation.
    private var cookies: [String: [Cookie]] = [:]
    /// The number of stored cookies.
    package private(set) var count = 0

    /// The maximum number of cookies per domain; the oldest is evicted (RFC 6265 §6.1 requires at least 50).
    package static let maxPerDomain = 100
    /// The maximum number of cookies in total; cookies of further domains are rejected.
    package static let maxCount = 10_000
    /// The maximum length of name and value together, in bytes.
    package static let maxPairBytes = 4096
    /// The maximum length of a `Cookie` field in bytes; cookies that do not fit are omitted.
    package static let maxHeaderBytes = 8190

    /// Creates an empty jar.
    public init() {}

    /// Stores the cookie of a `Set-Cookie` field, replacing the previous one, or deletes the previous one if the new one has
    /// expired.
    ///
    /// Ignores cookies that RFC 6265 §5 rejects, and cookies for a public suffix.
    package mutating func store(_ setCookie: String, from url: DownloadURL, now: Date) {
        guard let cookie = SetCookie(setCookie, now: now)?.cookie(from: url) else { return }
        // An http response must not shadow a cookie that was set over https (RFC 6265bis §5.7).
        guard url.scheme == .https || !shadowsSecure(cookie) else { return }
        insert(cookie, now: now)
    }

    /// Returns the value of the `Cookie` field for a request; `nil` when no cookie applies.
    ///
    /// Longer paths come first (RFC 6265 §5.4), then longer domains, then older cookies.
    package func header(for url: DownloadURL, now: Date) -> String? {
        guard count > 0 else { return nil }
        var matches: [(order: Int, cookie: Cookie)] = []
        for domain in CookieRules.domains(of: url.host) {
            for cookie in cookies[domain] ?? [] where !cookie.isExpired(at: now) && cookie.applies(to: url) {
                matches.append((matches.count, cookie))
            }
        }
        matches.sort { left, right in
            let lengths = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return lengths.0 == lengths.1 ? left.order < right.order : lengths.0 > lengths.1
        }
        var header = ""
        for (_, cookie) in matches {
            let pair = cookie.name.isEmpty ? cookie.value : "\(cookie.name)=\(cookie.value)"
            guard header.utf8.count + pair.utf8.count + 2 <= Self.maxHeaderBytes else { continue }
            header += header.isEmpty ? pair : "; \(pair)"
        }
        return header.isEmpty ? nil : header
    }

    var allCookies: [Cookie] { cookies.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// Adds a cookie, or deletes the previous one if the new one has expired.
    mutating func insert(_ cookie: Cookie, now: Date?) {
        var list = cookies[cookie.domain] ?? []
        let before = list.count
        let isGone = now.map { cookie.isExpired(at: $0) } ?? false
        if let index = list.firstIndex(where: { $0.name == cookie.name && $0.path == cookie.path }) {
            if isGone { list.remove(at: index) } else { list[index] = cookie }
        } else if !isGone {
            // The limit does not apply to the user's cookie file, for which `now` is `nil`.
            if let now, list.count >= Self.maxPerDomain {
                list.removeAll { $0.isExpired(at: now) }
                if list.count >= Self.maxPerDomain { list.removeFirst() }
            }
            guard count - before + list.count < Self.maxCount else { return }
            list.append(cookie)
        }
        count += list.count - before
        cookies[cookie.domain] = list.isEmpty ? nil : list
    }

    private func shadowsSecure(_ cookie: Cookie) -> Bool {
        CookieRules.domains(of: cookie.domain).contains { domain in
            (cookies[domain] ?? []).contains {
                $0.secure && $0.name == cookie.name && CookieRules.path(cookie.path, matches: $0.path)
            }
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of cookies, because their values are secret.
    public var description: String { "\(count) cookies" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CookieJar {
    /// Reads a cookie file from curl, wget or a browser extension: seven tab-separated fields per line.
    ///
    /// The fields: domain, TRUE to include subdomains, path, TRUE for https only, expiry in seconds since 1970 (0 for a session
    /// cookie), name, value. A line that begins with `#HttpOnly_` is not a comment. Lines without a valid cookie are recorded
    /// in ``skippedLines``.
    public init(netscapeFile text: String) {
        self.init()
        for line in TextLines(text) {
            var utf8 = line.text.utf8[...]
            let httpOnly = "#HttpOnly_"
            if utf8.starts(with: httpOnly.utf8) {
                utf8 = utf8.dropFirst(httpOnly.utf8.count)
            } else if utf8.first == UInt8(ascii: "#") || utf8.allSatisfy(ASCII.isWhiteSpace) {
                continue
            }
            guard let cookie = Self.cookie(netscapeLine: utf8), count < Self.maxCount else {
                skippedLines.append(line.number)
                continue
            }
            insert(cookie, now: nil)
        }
    }

    private static func cookie(netscapeLine line: Substring.UTF8View) -> Cookie? {
        let fields = line.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard fields.count >= 6, !fields.contains(where: \.hasControls), !fields[5].isEmpty else { return nil }
        guard !(fields[5] + (fields.count > 6 ? fields[6] : "")).utf8.contains(UInt8(ascii: ";")) else { return nil }
        var domain = fields[0].trimmedText.asciiLowercased
        if domain.utf8.first == UInt8(ascii: ".") { domain.removeFirst() }
        guard !domain.isEmpty, !domain.utf8.contains(where: ASCII.isBlank), let seconds = expiry(fields[4]) else {
            return nil
        }
        let isForHosts = fields[1].asciiLowercased == "true"
        return Cookie(
            name: fields[5], value: fields.count > 6 ? fields[6] : "", domain: domain,
            hostOnly: !isForHosts || CookieRules.isAddress(domain) || CookieRules.isPublicSuffix(domain),
            path: fields[2].utf8.first == UInt8(ascii: "/") ? fields[2] : "/",
            secure: fields[3].asciiLowercased == "true",
            expires: seconds > 0 ? Date(timeIntervalSince1970: seconds) : nil)
    }

    /// The cookies as a Netscape cookie file, by domain in alphabetical order.
    var netscapeFile: String {
        allCookies.map { cookie in
            let expiry = cookie.expires.map { String(Int64($0.timeIntervalSince1970)) } ?? "0"
            return [
                cookie.domain, cookie.hostOnly ? "FALSE" : "TRUE", cookie.path, cookie.secure ? "TRUE" : "FALSE",
                expiry,
                cookie.name, cookie.value,
            ].joined(separator: "\t") + "\n"
        }.joined()
    }

    /// Parses seconds since 1970 as browser extensions write them: with a sign, with a fraction, or out of range.
    private static func expiry(_ text: String) -> Double? {
        let text = text.trimmedText
        if text.isEmpty { return 0 }
        guard let value = Double(text), value.isFinite else { return nil }
        return min(value, 1e12)
    }
}

/// Encoded as a Netscape cookie file of at most ``ConnectionRules/mostTextBytes``, with at least one cookie.
extension CookieJar: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard text.utf8.count <= ConnectionRules.mostTextBytes else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.notInRange, "cookies", "1", "\(ConnectionRules.mostTextBytes)"))
        }
        self.init(netscapeFile: text)
        guard count > 0 else { throw DownloadError(.invalidRequest, ErrorPhrase(.noCookie), recovery: .needsUser) }
        skippedLines = []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(netscapeFile)
    }
}

/// Domain and path matching of cookies (RFC 6265 §5.1).
enum CookieRules {
    /// Whether `host` is `domain` or a subdomain of it; an IP address matches only itself.
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

    /// The host and all its parent domains, longest first; for an IP address, only the address itself.
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

    /// Whether anyone can register names directly below this domain: it is a single label, or a common second-level
    /// domain of a country.
    ///
    /// These rules are a small part of the public suffix list, but are sufficient for short-lived jars.
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
