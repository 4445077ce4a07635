import struct Foundation.Date

/// Whether what a response describes is the file that is held.
package enum IdentityComparison: Hashable, Sendable {
    /// A strong validator is equal: byte for byte the same (RFC 9110 §8.8.1).
    case same
    /// Likely the same, not proven: samples decide.
    case plausible(Reason)
    /// Nothing to compare.
    case unknown
    /// Proven different, with the words that say why.
    case different(Reason)

    /// Compares what is known with what one source offers now. Never across sources.
    package static func compare(known: FileIdentity, offered: FileIdentity, strict: Bool) -> IdentityComparison {
        if let old = known.totalBytes, let new = offered.totalBytes, old != new {
            return .different(Reason(.sizeChanged, "\(old)", "\(new)"))
        }
        let dates = compareDates(known: known, offered: offered)
        guard let oldField = known.etag, let newField = offered.etag,
            let old = EntityTag(oldField), let new = EntityTag(newField)
        else { return dates }
        if old.opaque.utf8.elementsEqual(new.opaque.utf8) {
            if !old.isWeak && !new.isWeak { return .same }
            return .plausible(Reason(.weakTag, newField))
        }
        let change = Reason(.tagChanged, oldField, newField)
        guard dates.isEqual, known.totalBytes != nil, known.totalBytes == offered.totalBytes else {
            return .different(change)
        }
        // Nodes of a CDN give one file different tags. A strong tag is doubted only where an old date agrees.
        if old.isWeak || new.isWeak { return .plausible(change) }
        if !strict && isOld(offered, bySeconds: 60) && isOld(known, bySeconds: 60) { return .plausible(change) }
        return .different(change)
    }

    private static func compareDates(known: FileIdentity, offered: FileIdentity) -> IdentityComparison {
        guard let old = known.lastModified, let new = offered.lastModified else { return .unknown }
        guard old == new else { return .different(Reason(.dateChanged, old, new)) }
        // Where there are tags, the date is not what the server stands by.
        if known.etag != nil || offered.etag != nil { return .plausible(Reason(.oneTag)) }
        return known.isDateStrong ? .same : .plausible(Reason(.youngDate))
    }

    private var isEqual: Bool {
        switch self {
        case .same, .plausible: true
        case .unknown, .different: false
        }
    }

    private static func isOld(_ identity: FileIdentity, bySeconds seconds: Double) -> Bool {
        identity.age.map { $0 > seconds } ?? false
    }
}

extension FileIdentity {
    /// Seconds between Last-Modified and the Date of the same response.
    package var age: Double? {
        guard let lastModified, let date, let old = HTTPDate.parse(lastModified), let now = HTTPDate.parse(date) else {
            return nil
        }
        return now.timeIntervalSince(old)
    }

    /// Last-Modified is a strong validator: a second or more older than the response (RFC 9110 §8.8.2.2).
    package var isDateStrong: Bool { age.map { $0 >= 1 } ?? false }

    package var strongTag: String? {
        guard let etag, let tag = EntityTag(etag), !tag.isWeak else { return nil }
        return etag
    }

    /// The value for If-Range: a strong ETag, else, when there is no ETag at all, a strong date, verbatim.
    package var strongValidator: String? {
        if let strongTag { return strongTag }
        return etag == nil && isDateStrong ? lastModified : nil
    }

    package var hasValidator: Bool { etag != nil || lastModified != nil }
}
