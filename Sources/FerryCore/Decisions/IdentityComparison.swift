#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The result of comparing a response's validators with those of the partial content.
package enum IdentityComparison: Hashable, Sendable {
    /// An equal strong validator: byte-for-byte the same representation (RFC 9110 §8.8.1).
    case same
    /// Probably the same, but unproven; samples must be compared.
    case plausible(Reason)
    /// No validators to compare.
    case unknown
    /// Proven different, for the given reason.
    case different(Reason)
    /// Another length under an equal validator. One of the two is wrong, so the response proves nothing: services report
    /// errors with the fields of the file and an empty body, and caches send files that were cut off.
    case inconsistent(Reason)

    /// Compares known validators with those that the same source sends now. Validators from different sources are never
    /// comparable.
    package static func compare(known: FileIdentity, offered: FileIdentity, strict: Bool) -> IdentityComparison {
        if let old = known.totalBytes, let new = offered.totalBytes, old != new {
            guard let validator = commonValidator(known: known, offered: offered) else {
                return .different(Reason(.sizeChanged, "\(old)", "\(new)"))
            }
            return .inconsistent(Reason(.otherSizeUnder, "\(old)", "\(new)", validator))
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
        guard !dates.isContradiction, known.totalBytes != nil, known.totalBytes == offered.totalBytes else {
            return .different(change)
        }
        // Nodes of a CDN may use different tags for one file. A changed strong tag is doubted only if both dates are
        // old.
        if old.isWeak || new.isWeak { return .plausible(change) }
        if !strict && isOld(offered, bySeconds: 60) && isOld(known, bySeconds: 60) { return .plausible(change) }
        return .different(change)
    }

    /// Returns the validator by which both are the same representation, whatever their lengths; `nil` if there is none.
    ///
    /// It is the ETag, weak or strong. Only if another, old Last-Modified comes with it, the tag is that of a server that gives
    /// all versions one tag. Without two tags, it is a Last-Modified that was old when the known bytes were received: a younger
    /// file may have grown within the same second.
    static func commonValidator(known: FileIdentity, offered: FileIdentity) -> String? {
        guard let old = known.etag.flatMap({ EntityTag($0) }), let new = offered.etag.flatMap({ EntityTag($0) }) else {
            return known.isDateStrong && known.lastModified == offered.lastModified ? known.lastModified : nil
        }
        guard old.opaque.utf8.elementsEqual(new.opaque.utf8) else { return nil }
        let isDateOther = known.lastModified != nil && known.lastModified != offered.lastModified
        return isDateOther && offered.isDateStrong ? nil : offered.etag
    }

    private static func compareDates(known: FileIdentity, offered: FileIdentity) -> IdentityComparison {
        guard let old = known.lastModified, let new = offered.lastModified else { return .unknown }
        guard old == new else { return .different(Reason(.dateChanged, old, new)) }
        // The dates of a server that sends tags are not trusted.
        if known.etag != nil || offered.etag != nil { return .plausible(Reason(.oneTag)) }
        return known.isDateStrong ? .same : .plausible(Reason(.youngDate))
    }

    /// Whether there is no evidence that both are the same.
    var isContradiction: Bool {
        switch self {
        case .same, .plausible: false
        case .unknown, .different, .inconsistent: true
        }
    }

    private static func isOld(_ identity: FileIdentity, bySeconds seconds: Double) -> Bool {
        identity.age.map { $0 > seconds } ?? false
    }
}

extension FileIdentity {
    /// The seconds between Last-Modified and Date of the same response.
    package var age: Double? {
        guard let lastModified, let date, let old = HTTPDate.parse(lastModified), let now = HTTPDate.parse(date) else {
            return nil
        }
        return now.timeIntervalSince(old)
    }

    /// Whether Last-Modified is a strong validator: at least a second older than the response (RFC 9110 §8.8.2.2).
    package var isDateStrong: Bool { age.map { $0 >= 1 } ?? false }

    package var strongTag: String? {
        guard let etag, let tag = EntityTag(etag), !tag.isWeak else { return nil }
        return etag
    }

    /// The value for If-Range, verbatim: a strong ETag or, if there is no ETag at all, a strong Last-Modified.
    package var strongValidator: String? {
        if let strongTag { return strongTag }
        return etag == nil && isDateStrong ? lastModified : nil
    }

    package var hasValidator: Bool { etag != nil || lastModified != nil }
}
