#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

// Encoding and decoding of times, durations, sizes and kinds. Times use the date strategy of the encoder or decoder.

extension KeyedEncodingContainer {
    /// Encodes a time. Its seconds since 1970 are clamped to ±10^12, so that milliseconds stay exact in a Double.
    mutating func encode(time: Date, forKey key: Key) throws {
        try encode(Date(timeIntervalSince1970: CodedSeconds.held(time.timeIntervalSince1970)), forKey: key)
    }

    /// Encodes seconds, clamped to ±10^12.
    mutating func encode(seconds: Duration, forKey key: Key) throws {
        let parts = seconds.components
        try encode(CodedSeconds.held(Double(parts.seconds) + Double(parts.attoseconds) * 1e-18), forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a time, within ±10^12 seconds since 1970.
    func decodeTime(forKey key: Key) throws -> Date {
        let time = try decode(Date.self, forKey: key)
        try check(time.timeIntervalSince1970, forKey: key)
        return time
    }

    /// Decodes seconds, within ±10^12, rounded to nanoseconds.
    func decodeSeconds(forKey key: Key) throws -> Duration {
        let seconds = try number(forKey: key)
        let whole = seconds.rounded(.down)
        return .seconds(Int64(whole)) + .nanoseconds(Int64(((seconds - whole) * 1e9).rounded()))
    }

    /// Decodes a size, offset or rate: 0 or more, below ``ByteCount/bound``.
    package func decodeBytes(forKey key: Key) throws -> ByteCount {
        let count = try decode(ByteCount.self, forKey: key)
        guard count.isSize else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a size that cannot be: \(count)")
        }
        return count
    }

    /// Decodes a size, offset or rate; `nil` when it is absent or null.
    package func decodeBytesIfPresent(forKey key: Key) throws -> ByteCount? {
        try contains(key) && !decodeNil(forKey: key) ? decodeBytes(forKey: key) : nil
    }

    /// Decodes a value. If a number in it cannot be represented, the error names the member, unlike the error of
    /// `JSONDecoder`, which calls the whole text invalid.
    ///
    /// - Parameter limits: The least and the greatest number that the member may have; by default those of `Int`.
    package func decodeNamed<Value: Decodable>(
        _ type: Value.Type, forKey key: Key, between limits: (least: String, most: String)? = nil
    ) throws -> Value {
        do { return try decode(type, forKey: key) } catch {
            if error is DecodingError || error is DownloadError { throw error }
            let number = try? decode(Double.self, forKey: key)
            let (least, most) = limits ?? ("\(Int.min)", "\(Int.max)")
            let defect =
                switch number {
                case let number? where number != number.rounded(): "it is not a whole number"
                case _?: "it is not between \(least) and \(most)"
                case nil: "it is malformed, or not between \(least) and \(most)"
                }
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: defect)
        }
    }

    /// Decodes the word that selects an enum's case.
    func decodeKind<Kind: RawRepresentable<String>>(_ type: Kind.Type, of what: String, forKey key: Key) throws -> Kind
    {
        let word = try decode(String.self, forKey: key)
        guard let kind = Kind(rawValue: word) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "unknown \(what) \(TextError.quote(word)): perhaps of a newer version of Ferry")
        }
        return kind
    }

    private func number(forKey key: Key) throws -> Double {
        let seconds = try decode(Double.self, forKey: key)
        try check(seconds, forKey: key)
        return seconds
    }

    private func check(_ seconds: Double, forKey key: Key) throws {
        guard abs(seconds) <= CodedSeconds.most else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a time out of bounds: \(seconds)")
        }
    }
}

private enum CodedSeconds {
    static let most = 1e12

    static func held(_ seconds: Double) -> Double { seconds.isNaN ? 0 : min(most, max(-most, seconds)) }
}

/// A coding key for any member name.
package struct AnyMember: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }
    package init(_ text: String) { stringValue = text }
    package init?(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
