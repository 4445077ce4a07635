import Foundation

/// Parses the parameters of `/file/…` into a resource and behaviours.
enum FileParameters {
    typealias Pairs = [(name: String, value: String)]

    /// Returns the resource; nil if a value is invalid.
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
}
