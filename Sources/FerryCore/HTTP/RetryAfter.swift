#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The value of a Retry-After field (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The maximum delay that a server can request: 6 hours.
    package static let longest: Duration = .seconds(6 * 3600)

    /// Parses seconds or a date into a delay of 0…6 h; `nil` when it is neither. A past date is a delay of zero.
    package static func delay(_ field: String, now: Date) -> Duration? {
        guard field.utf8.count <= 128 else { return nil }
        let bytes = ASCII.trimmed(Array(field.utf8)[...])
        if !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) {
            guard let seconds = ASCII.number(bytes) else { return longest }
            return min(.seconds(seconds), longest)
        }
        guard let date = HTTPDate.parse(String(decoding: bytes, as: UTF8.self), now: now) else { return nil }
        let seconds = date.timeIntervalSince(now)
        guard !seconds.isNaN else { return nil }
        return seconds >= 6 * 3600 ? longest : .seconds(max(seconds, 0))
    }
}
