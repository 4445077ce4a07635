/// Decides whether a response can be a new version of the file whose bytes are held.
///
/// Gateways, stores and expired links report errors with status 200 and a short or empty body of JSON, XML or text. A
/// node without the file responds with 416 and the length 0. Such a response contradicts the held bytes, but is not a
/// file.
///
/// Invariant: bytes that were received under a validator are discarded only for a response with evidence of its own: another
/// strong validator or a digest of the whole file or, against bytes under a weak validator, any validator. A whole body without
/// such evidence is accepted if only its validator distinguishes it from the file: it has the length of the file, or a weak
/// validator and the file's media type. The validator of the held bytes under another length is no evidence
/// (``IdentityComparison/inconsistent(_:)``).
///
/// While other connections deliver, such evidence is not enough: a second request must lead to the same ``claim(_:against:)``.
package enum ReplacementPolicy {
    /// Returns the reason why a whole response is not a new version of the file with this identity; `nil` if it may be
    /// one.
    package static func refusal(
        of new: Representation, insteadOf known: FileIdentity, _ rules: ResumeRules
    ) -> Reason? {
        if rules.trust.acceptsHTML { return nil }
        if let type = new.identity.mediaType, type.isDocument, known.mediaType?.isDocument == false {
            return Reason(.documentInstead, "\(type)")
        }
        if let reason = inconsistency(of: new, with: known, rules) { return reason }
        if hasEvidence(new, against: known) { return nil }
        let isAlike =
            new.identity.hasValidator
            ? new.identity.mediaType == known.mediaType
            : known.totalBytes != nil && known.totalBytes == new.identity.totalBytes
        return isAlike ? nil : Reason(.unprovenInstead)
    }

    /// Returns the reason why a whole response cannot be believed: it has the validator of the file, but another length. `nil` if
    /// it can, or if the body is encoded and so has a length of its own.
    package static func inconsistency(
        of new: Representation, with known: FileIdentity, _ rules: ResumeRules
    ) -> Reason? {
        guard !rules.trust.acceptsHTML, !new.isEncoded,
            case .inconsistent(let reason) = IdentityComparison.compare(
                known: known, offered: new.identity, strict: rules.trust.strict)
        else { return nil }
        return reason
    }

    /// Returns the reason why a whole response does not replace a finished file that was received under a validator: it has
    /// neither a validator nor a digest, and another length. `nil` if it may replace the file.
    package static func refusal(
        of new: Representation, replacing finished: FileIdentity, _ rules: ResumeRules
    ) -> Reason? {
        guard !rules.trust.acceptsHTML, !rules.hasDigest, finished.hasValidator, !new.identity.hasValidator,
            new.digests.isEmpty, new.isEncoded || new.identity.totalBytes != finished.totalBytes
        else { return nil }
        return Reason(.unprovenInstead)
    }

    /// Whether a response has evidence of its own for the representation that it declares.
    package static func hasEvidence(_ new: Representation, against known: FileIdentity) -> Bool {
        if !known.hasValidator || !new.digests.isEmpty || new.identity.strongValidator != nil { return true }
        return known.strongValidator == nil && new.identity.hasValidator
    }

    /// Returns the validator or digest that identifies the response's representation as a different one; `nil` if there
    /// is none.
    package static func claim(_ new: Representation, against held: PartialContent) -> String? {
        let known = held.identity
        if let tag = new.identity.strongValidator, tag != known.strongValidator, tag != known.lastModified {
            return tag
        }
        let digest = new.digests.first { new in
            held.digests.contains { $0.algorithm == new.algorithm && $0 != new }
        }
        if let digest { return "\(digest)" }
        guard known.strongValidator == nil else { return nil }
        if let tag = new.identity.etag { return tag == known.etag ? nil : tag }
        return new.identity.lastModified == known.lastModified ? nil : new.identity.lastModified
    }
}

extension FileIdentity {
    package var mediaType: MediaType? { contentType.flatMap { MediaType($0) } }
}

extension MediaType {
    /// Whether programs report errors in this type: a web page, JSON or XML.
    package var isDocument: Bool {
        if isHTML { return true }
        let isText = ["application", "text"].contains(type)
        return isText && ["json", "xml"].contains { subtype == $0 || subtype.utf8.hasSuffix("+\($0)") }
    }
}
