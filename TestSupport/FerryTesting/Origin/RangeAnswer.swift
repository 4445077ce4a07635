import Foundation

/// The correct response to Range, If-Range and the conditional fields (RFC 9110 §13, §14). Pure.
enum RangeAnswer: Sendable, Hashable {
    /// 200 with the whole file.
    case whole
    /// 206 with one part.
    case part(Range<Int64>)
    /// 206 multipart/byteranges or 200, depending on the resource.
    case parts([Range<Int64>])
    /// 416.
    case unsatisfiable
    /// 304.
    case notModified

    static func make(for request: RequestHead, resource: Resource) -> RangeAnswer {
        if isNotModified(request, resource) { return .notModified }
        guard resource.ranges == .on || resource.ranges == .unannounced, let field = request["Range"],
            mayUseRange(request["If-Range"], resource)
        else { return .whole }
        guard let parts = ranges(field, size: resource.size) else { return .whole }
        switch parts.count {
        case 0: return .unsatisfiable
        case 1: return .part(parts[0])
        default: return resource.multipleRanges == .multipart ? .parts(parts) : .whole
        }
    }

    /// Returns the satisfiable ranges of a Range field, clipped; empty if none is satisfiable; nil for an invalid
    /// field, which is to be ignored.
    static func ranges(_ field: String, size: Int64) -> [Range<Int64>]? {
        let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, pair[0].lowercased() == "bytes" else { return nil }
        var result: [Range<Int64>] = []
        for part in pair[1].split(separator: ",", omittingEmptySubsequences: false) {
            let text = RequestHead.trimmed(part)
            guard let dash = text.firstIndex(of: "-") else { return nil }
            let first = text[..<dash]
            let last = text[text.index(after: dash)...]
            if first.isEmpty {
                guard let count = number(last) else { return nil }
                if count > 0, size > 0 { result.append(max(0, size - min(count, size))..<size) }
            } else {
                guard let start = number(first) else { return nil }
                guard !last.isEmpty else {
                    if start < size { result.append(start..<size) }
                    continue
                }
                guard let end = number(last), end >= start else { return nil }
                if start < size { result.append(start..<min(end, size - 1) + 1) }
            }
        }
        return result
    }

    /// Evaluates If-Range: strong comparison of the tag, or the exact date (RFC 9110 §13.1.5).
    static func mayUseRange(_ condition: String?, _ resource: Resource) -> Bool {
        guard let condition else { return true }
        if condition.hasPrefix("\"") || condition.hasPrefix("W/") {
            return condition == resource.etag && !condition.hasPrefix("W/")
        }
        return resource.lastModified.map { OriginDate.format($0) == condition } ?? false
    }

    /// Evaluates If-None-Match (weak comparison), otherwise If-Modified-Since.
    static func isNotModified(_ request: RequestHead, _ resource: Resource) -> Bool {
        if let condition = request["If-None-Match"] {
            guard let etag = resource.etag else { return false }
            return condition == "*" || condition.split(separator: ",").contains { opaque($0) == opaque(etag[...]) }
        }
        guard let condition = request["If-Modified-Since"].flatMap(OriginDate.parse),
            let lastModified = resource.lastModified
        else { return false }
        return lastModified.timeIntervalSince1970.rounded(.down) <= condition.timeIntervalSince1970
    }

    private static func opaque(_ tag: Substring) -> String {
        let text = RequestHead.trimmed(tag)
        return text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
    }

    /// Parses digits; numbers beyond Int64 become its maximum.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text) ?? Int64.max
    }
}
