import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The JSON coding of the API.
package enum APICoding {
    /// Encodes a value as UTF-8 without white space, times as RFC 3339. Throws only if the value cannot be encoded, which
    /// is a defect.
    package static func encode(_ value: some Encodable, sortsKeys: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = sortsKeys ? [.sortedKeys, .withoutEscapingSlashes] : .withoutEscapingSlashes
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(RFC3339.text(date))
        }
        return try encoder.encode(value)
    }

    /// Decodes a value; throws a `DecodingError`, see ``Problem/init(decoding:)``.
    package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = RFC3339.date(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "\(APIText.quote(text)) is no time like 2025-01-31T09:05:00Z")
            }
            return date
        }
        return try decoder.decode(type, from: data)
    }
}

/// Durations in the API, in seconds.
package enum APISeconds {
    /// Returns seconds rounded to milliseconds, clamped to ±10^12.
    package static func number(_ duration: Duration) -> Double {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
        return min(1e12, max(-1e12, (seconds * 1000).rounded() / 1000))
    }

    /// Returns `nil` for values that are not finite, negative or above 10^12.
    package static func duration(_ seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0, seconds <= 1e12 else { return nil }
        return .seconds(Int64(seconds))
            + .nanoseconds(Int64((seconds.truncatingRemainder(dividingBy: 1) * 1e9).rounded()))
    }
}

/// Quoting of foreign text in messages.
package enum APIText {
    /// Returns the text in quotation marks, shortened, without control characters.
    package static func quote(_ text: some StringProtocol) -> String {
        var shown = "“"
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == 80 {
                shown += "…"
                break
            }
            shown.unicodeScalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return shown + "”"
    }
}
