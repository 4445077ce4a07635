import HTTPTypes

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The value of a Retry-After field (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The maximum delay that a server can request: 6 hours.
    package static let longest: Duration = .seconds(6 * 3600)

    /// Returns the delay that a response requests; `nil` if it requests none.
    ///
    /// A date is in the server's time, so it is measured from the Date of the same response, otherwise from `now`.
    package static func delay(in head: ResponseHead, now: Date) -> Duration? {
        guard let field = head.single(.retryAfter) else { return nil }
        return delay(field, now: head.single(.date).flatMap { HTTPDate.parse($0, now: now) } ?? now)
    }

    /// Parses seconds or a date into a delay of 0…6 h; `nil` if the value is neither. A past date is a delay of zero.
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
