#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// A stored cookie (RFC 6265 §5.3).
package struct Cookie: Sendable, Hashable {
    package var name: String
    package var value: String
    /// The domain in lower case, without a leading dot.
    package var domain: String
    /// Whether the cookie is sent only to ``domain``, not to its subdomains.
    package var hostOnly: Bool
    /// The path, starting with `/`.
    package var path: String
    /// Whether the cookie is sent only over https.
    package var secure: Bool
    /// The expiry time; `nil` for a session cookie, which lasts as long as its jar.
    package var expires: Date?

    package init(
        name: String, value: String, domain: String, hostOnly: Bool, path: String, secure: Bool, expires: Date?
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.hostOnly = hostOnly
        self.path = path
        self.secure = secure
        self.expires = expires
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether a request for `url` includes the cookie (RFC 6265 §5.4), ignoring its expiry.
    func applies(to url: DownloadURL) -> Bool {
        if hostOnly ? url.host != domain : !CookieRules.host(url.host, matches: domain) { return false }
        if secure && url.scheme != .https { return false }
        return CookieRules.path(url.path, matches: path)
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible {
    /// Name, domain and path, without the value, which is secret.
    package var description: String { "\(name) for \(hostOnly ? "" : ".")\(domain)\(path)" }
    package var debugDescription: String { description }
}

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

/// The lenient date parser for `Expires` (RFC 6265 §5.1.1).
enum CookieDate {
    /// Returns `nil` when day, month, year or time is missing or out of range.
    static func parse(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.prefix(256).split(whereSeparator: isDelimiter) {
            let bytes = Array(token)
            if time == nil, let found = clock(bytes) {
                time = found
            } else if day == nil, let found = number(bytes, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(bytes) {
                month = found
            } else if year == nil, let found = number(bytes, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
        guard year >= 1601, (1...31).contains(day), time.hour <= 23, time.minute <= 59, time.second <= 59 else {
            return nil
        }
        guard day <= length(ofMonth: month, year: year) else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        return Date(timeIntervalSince1970: Double(days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses a number of `digits` digits at the start, not followed by another digit.
    private static func number(_ bytes: [UInt8], digits: ClosedRange<Int>) -> Int? {
        let head = bytes.prefix { ASCII.isDigit($0) }
        guard digits.contains(head.count) else { return nil }
        return head.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func clock(_ bytes: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].allSatisfy(ASCII.isDigit), parts[1].allSatisfy(ASCII.isDigit),
            let hour = number(Array(parts[0]), digits: 1...2), let minute = number(Array(parts[1]), digits: 1...2),
            let second = number(Array(parts[2]), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func monthNumber(_ bytes: [UInt8]) -> Int? {
        let start = String(decoding: bytes.prefix(3), as: UTF8.self).asciiLowercased
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        default: 31
        }
    }

    /// Returns the days from 1970-01-01 in the Gregorian calendar, for years from 1601 on.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        // The year starts in March, so that the leap day is its last day.
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }
}
