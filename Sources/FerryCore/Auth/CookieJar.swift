package import struct Foundation.Date

/// The cookies of a chain of requests: those loaded from a file and those that servers set.
///
/// Cookies are sent only to URLs that match their domain (RFC 6265 §5).
public struct CookieJar: Sendable, Hashable {
    /// Numbers of the file's lines without a usable cookie, counted from 1.
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

    /// Stores the cookie of a `Set-Cookie` field, replacing the previous one, or deletes it when expired.
    ///
    /// Ignored: cookies that RFC 6265 §5 rejects, and cookies for a public suffix.
    package mutating func store(_ setCookie: String, from url: DownloadURL, now: Date) {
        guard let cookie = SetCookie(setCookie, now: now)?.cookie(from: url) else { return }
        // An http response must not shadow a cookie that https has set (RFC 6265bis §5.7).
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

    /// Adds a cookie, or deletes the previous one when the new one has expired.
    mutating func insert(_ cookie: Cookie, now: Date?) {
        var list = cookies[cookie.domain] ?? []
        let before = list.count
        let isGone = now.map { cookie.isExpired(at: $0) } ?? false
        if let index = list.firstIndex(where: { $0.name == cookie.name && $0.path == cookie.path }) {
            if isGone { list.remove(at: index) } else { list[index] = cookie }
        } else if !isGone {
            // The limit does not apply to the user's cookie file, which has no `now`.
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
    /// The number of cookies; their values are secret.
    public var description: String { "\(count) cookies" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
