import struct Foundation.Date

// How times, durations, sizes and kinds are written wherever Ferry keeps or sends its nouns: whatever the coder is set to.

extension KeyedEncodingContainer {
    /// Seconds since 1970; what no Double counts in milliseconds is held to ±10^12.
    mutating func encode(time: Date, forKey key: Key) throws {
        try encode(CodedSeconds.held(time.timeIntervalSince1970), forKey: key)
    }

    /// Seconds, held to ±10^12.
    mutating func encode(seconds: Duration, forKey key: Key) throws {
        let parts = seconds.components
        try encode(CodedSeconds.held(Double(parts.seconds) + Double(parts.attoseconds) * 1e-18), forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Seconds since 1970, within ±10^12.
    func decodeTime(forKey key: Key) throws -> Date { Date(timeIntervalSince1970: try number(forKey: key)) }

    /// Seconds, within ±10^12; counted in nanoseconds.
    func decodeSeconds(forKey key: Key) throws -> Duration {
        let seconds = try number(forKey: key)
        let whole = seconds.rounded(.down)
        return .seconds(Int64(whole)) + .nanoseconds(Int64(((seconds - whole) * 1e9).rounded()))
    }

    /// A size, offset or rate: 0 or more, below ``ByteCount/bound``.
    package func decodeBytes(forKey key: Key) throws -> ByteCount {
        let count = try decode(ByteCount.self, forKey: key)
        guard count.isSize else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a size that cannot be: \(count)")
        }
        return count
    }

    /// A size, offset or rate; `nil` when it is left out.
    package func decodeBytesIfPresent(forKey key: Key) throws -> ByteCount? {
        try contains(key) && !decodeNil(forKey: key) ? decodeBytes(forKey: key) : nil
    }

    /// The word that says which case it is.
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
        guard abs(seconds) <= CodedSeconds.most else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a time out of bounds: \(seconds)")
        }
        return seconds
    }
}

private enum CodedSeconds {
    static let most = 1e12

    static func held(_ seconds: Double) -> Double { seconds.isNaN ? 0 : min(most, max(-most, seconds)) }
}
