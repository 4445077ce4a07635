import Foundation

/// The parameters of `/file/…`, read into a resource and behaviours.
enum FileParameters {
    typealias Pairs = [(name: String, value: String)]

    /// The file; nil when a value cannot be read.
    static func resource(size: Int64, _ parameters: Pairs) -> Resource? {
        var resource = Resource(size: size)
        for (name, value) in parameters where name == "seed" {
            guard let seed = UInt64(value) else { return nil }
            resource = Resource(size: size, seed: seed)
        }
        for (name, value) in parameters {
            switch name {
            case "etag":
                switch value {
                case "none": resource.etag = nil
                case "weak": resource.etag = resource.etag.map { "W/" + $0 }
                default: resource.etag = "\"\(value)\""
                }
            case "rawetag": resource.etag = value
            case "lastmod":
                switch value {
                case "none": resource.lastModified = nil
                case "now": resource.lastModified = Date()
                default:
                    guard let seconds = Int64(value) else { return nil }
                    resource.lastModified = Date(timeIntervalSince1970: Double(seconds))
                }
            case "ranges":
                let known: [String: Resource.Ranges] = [
                    "on": .on, "off": .off, "ignore": .ignored, "unannounced": .unannounced,
                ]
                guard let ranges = known[value] else { return nil }
                resource.ranges = ranges
            case "name": resource.contentDisposition = "attachment; filename=\"\(value)\""
            case "disposition": resource.contentDisposition = value
            case "type": resource.contentType = value == "none" ? nil : value
            case "field":
                let pair = value.split(separator: ":", maxSplits: 1)
                guard pair.count == 2 else { return nil }
                resource.fields.append(Field(String(pair[0]), RequestHead.trimmed(pair[1])))
            case "chunked":
                guard let size = value.isEmpty || value == "1" ? 65_536 : ByteSize.parse(value), size > 0 else {
                    return nil
                }
                resource.framing = .chunked(Int(clamping: size))
            case "close": resource.framing = .close
            case "multipart": resource.multipleRanges = .multipart
            case "digest": resource.offersContentDigest = true
            default: break
            }
        }
        return resource
    }

    /// The behaviours in the order of the parameters; nil when one is unknown or cannot be read.
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
        "multipart", "digest", "times",
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
        case "gzip": return .contentEncoding()
        case "html": return .htmlPage()
        case "baddigest": return .wrongContentDigest
        case "endless": return .endlessBody()
        case "excess": return size.map { .excess(Int(clamping: $0)) }
        case "norange": return .ignoreRange
        case "noifrange": return .dislikeIfRange
        case "badrange": return .contentRange(value)
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
        default: return nil
        }
    }
}
