package import struct Foundation.Date

/// The value of a Retry-After field (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The longest wait that a server can ask for: 6 hours.
    package static let longest: Duration = .seconds(6 * 3600)

    /// How long to wait, from seconds or a date; 0…6 h, `nil` when it is neither. A date that has passed is no wait.
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
