public import struct Foundation.Date

/// The cookies of one chain of requests: those loaded from a file, and those that servers set on the way.
///
/// What a host sets goes only to URLs that its domain matches (RFC 6265 §5), never to another site.
public struct CookieJar: Sendable, Hashable {
    /// The lines of the file that hold no usable cookie, counted from 1.
    public internal(set) var skippedLines: [Int] = []

    /// By domain, each list in the order of creation.
    private var cookies: [String: [Cookie]] = [:]
    /// The number of cookies that are kept.
    public private(set) var count = 0

    /// At most this many cookies under one domain; the oldest goes first (RFC 6265 §6.1 asks for 50 at least).
    package static let maxPerDomain = 100
    /// At most this many in all; further domains are refused.
    package static let maxCount = 10_000
    /// At most this many bytes of name and value together.
    package static let maxPairBytes = 4096
    /// At most this many bytes in one `Cookie` field; cookies that do not fit are left out.
    package static let maxHeaderBytes = 8190

    /// A jar without cookies.
    public init() {}

    /// Keeps the cookie of one `Set-Cookie` field, replaces its older self, or removes it when it has expired.
    ///
    /// What RFC 6265 §5 refuses, and what is meant for a whole public suffix, changes nothing.
    public mutating func store(_ setCookie: String, from url: DownloadURL, now: Date) {
        guard let cookie = SetCookie(setCookie, now: now)?.cookie(from: url) else { return }
        // A plain http response must not shadow what https has set (RFC 6265bis §5.7).
        guard url.scheme == .https || !shadowsSecure(cookie) else { return }
        insert(cookie, now: now)
    }

    /// The value of the `Cookie` field for a request; `nil` when no cookie applies.
    ///
    /// Longer paths come first, then older cookies (RFC 6265 §5.4).
    public func header(for url: DownloadURL, now: Date) -> String? {
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

    /// Adds a cookie that was read elsewhere, or takes away its older self when it has expired.
    mutating func insert(_ cookie: Cookie, now: Date?) {
        var list = cookies[cookie.domain] ?? []
        let before = list.count
        let isGone = now.map { cookie.isExpired(at: $0) } ?? false
        if let index = list.firstIndex(where: { $0.name == cookie.name && $0.path == cookie.path }) {
            if isGone { list.remove(at: index) } else { list[index] = cookie }
        } else if !isGone {
            // A user's own file may hold more.
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
    /// How many cookies there are; their values are secrets.
    public var description: String { "\(count) cookies" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
