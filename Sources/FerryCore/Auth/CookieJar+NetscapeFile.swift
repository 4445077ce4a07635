import struct Foundation.Date

extension CookieJar {
    /// Reads a cookie file of curl, wget or browser exporters: seven tab-separated fields per line.
    ///
    /// The fields: domain, TRUE to include subdomains, path, TRUE for https only, expiry in seconds since 1970 (0 for a
    /// session cookie), name, value. A line prefix `#HttpOnly_` is not a comment. Lines without a valid cookie are
    /// recorded in ``skippedLines``.
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

    /// Parses seconds since 1970 as browser exporters write them: with sign, fraction, or out of range.
    private static func expiry(_ text: String) -> Double? {
        let text = text.trimmedText
        if text.isEmpty { return 0 }
        guard let value = Double(text), value.isFinite else { return nil }
        return min(value, 1e12)
    }
}

/// Coded as a Netscape cookie file of at most ``ConnectionRules/mostTextBytes``, with at least one cookie.
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
