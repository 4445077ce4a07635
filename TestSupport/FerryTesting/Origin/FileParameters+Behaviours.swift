extension FileParameters {
    /// Returns the behaviours in the order of the parameters; nil if one is unknown or invalid.
    static func behaviours(_ parameters: Pairs) -> [Behaviour]? {
        var behaviours: [Behaviour] = []
        for (name, value) in parameters where !plain.contains(name) {
            guard let behaviour = behaviour(name, value) else { return nil }
            behaviours.append(behaviour)
        }
        return behaviours
    }

    private static let plain: Set<String> = [
        "seed", "etag", "rawetag", "lastmod", "ranges", "name", "disposition", "type", "field", "chunked", "close",
        "multipart", "digest", "times", "every", "ranged",
    ]

    private static func behaviour(_ name: String, _ value: String) -> Behaviour? {
        let size = ByteSize.parse(value)
        let signed = Int64(value)
        switch name {
        case "rate": return size.map { .rate($0) }
        case "drip": return .rate(1)
        case "delay": return signed.map { .delay(.milliseconds($0)) }
        case "pause":
            let numbers = value.split(separator: ",").compactMap { ByteSize.parse(String($0)) }
            return numbers.count == 2 ? .pause(.milliseconds(numbers[0]), after: numbers[1]) : nil
        case "cut": return size.map { .cut(after: $0) }
        case "reset": return size.map { .cut(after: $0, .reset) }
        case "stall": return size.map { .stall(after: $0) }
        case "cutclose": return .closeDelimited(.cut)
        case "corrupt": return size.map { .corrupt(at: $0) }
        case "status":
            let pair = value.split(separator: ",", maxSplits: 1).map(String.init)
            guard let status = pair.first.flatMap({ Int($0) }) else { return nil }
            return .status(status, retryAfter: pair.count == 2 ? pair[1] : nil)
        case "document":
            let pair = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return pair.count == 2 ? .document(pair[1], type: pair[0]) : nil
        case "as": return Int(value).map { .status(as: $0) }
        case "busy":
            let numbers = value.split(separator: ",").compactMap { Double($0) }
            return numbers.count == 2 ? .busy(until: numbers[0], ahead: numbers[1]) : nil
        case "owntag": return .ownTag
        case "parttype": return .partType(value)
        case "gzip": return .contentEncoding()
        case "html": return .htmlPage()
        case "baddigest": return .wrongContentDigest
        case "endless": return .endlessBody()
        case "excess": return size.map { .excess(Int(clamping: $0)) }
        case "norange": return .ignoreRange
        case "noifrange": return .dislikeIfRange
        case "anyifrange": return .ignoreIfRange
        case "byteranges": return .multipart
        case "part":
            let ends = value.split(separator: "-", maxSplits: 1).compactMap { ByteSize.parse(String($0)) }
            return ends.count == 2 && ends[0] < ends[1] ? .onlyPart(ends[0]..<ends[1]) : nil
        case "unsatisfiable":
            switch value {
            case "none": return .unsatisfiable(length: nil)
            case "endless": return .unsatisfiable(length: nil, endlessBody: true)
            default: return size.map { .unsatisfiable(length: $0) }
            }
        case "version":
            return UInt64(value).map { seed in
                .version { $0 = Resource(size: $0.size, seed: seed, lastModified: $0.lastModified) }
            }
        case "badrange": return .contentRange(value == "none" ? nil : value)
        case "shift": return signed.map { .shiftedRange(by: $0) }
        case "early": return size.map { .endsEarly(after: $0) }
        case "late": return size.map { .endsLate(by: $0) }
        case "total": return .total(value)
        case "silence": return .silence
        case "headonly": return .headOnly
        case "garbage": return .raw("\u{1}\u{2}garbage")
        case "drop": return .drop()
        case "auth":
            let parts = value.split(separator: ":", maxSplits: 2).map(String.init)
            guard parts.count == 3 else { return nil }
            return parts[0] == "digest" ? .digestAuth(parts[1], parts[2]) : .basicAuth(parts[1], parts[2])
        case "cookie":
            let pair = value.split(separator: "=", maxSplits: 1).map(String.init)
            return pair.count == 2 ? .requireCookie(pair[0], pair[1]) : nil
        default: return framing(name, value) ?? redirect(name, value)
        }
    }

    /// Returns the behaviours for invalid heads and framing.
    private static func framing(_ name: String, _ value: String) -> Behaviour? {
        switch name {
        case "length": return .contentLength(value)
        case "length2": return .secondContentLength(value)
        case "lengthchunked": return .lengthAndChunked
        case "badchunk":
            let pair = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return pair.count == 2 ? ByteSize.parse(pair[1]).map { .badChunkSize(pair[0], after: $0) } : nil
        case "truncate": return ByteSize.parse(value).map { .cut(after: $0, .cut) }
        case "endlesshead": return .endlessHead
        case "latin1": return .latin1
        case "manyfields":
            let pair = value.split(separator: ",").compactMap { Int($0) }
            return pair.count == 2 && pair.allSatisfy((0...1_000_000).contains)
                ? .manyFields(pair[0], valueBytes: pair[1]) : nil
        case "informational": return Int(value).map { .informational(max(0, $0)) }
        case "bodiless": return Int(value).map { .bodiless($0) }
        default: return nil
        }
    }

    private static func redirect(_ name: String, _ value: String) -> Behaviour? {
        switch name {
        case "loop": return .redirectLoop
        case "location": return .redirect(to: value)
        default: return nil
        }
    }
}
