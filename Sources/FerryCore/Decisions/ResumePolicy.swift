/// What is held of a file when a request is made.
package struct PartialContent: Hashable, Sendable {
    package var identity: FileIdentity
    /// Bytes that are there and may be kept.
    package var ranges: RangeSet<ByteCount>
    /// Samples of what is held matched what this identity's server sends.
    package var sampledAs: FileIdentity?
    /// Digests of the whole that the server offered with the bytes that are held.
    package var digests: [Checksum] = []

    package init(identity: FileIdentity, ranges: RangeSet<ByteCount>, sampledAs: FileIdentity? = nil) {
        self.identity = identity
        self.ranges = ranges
        self.sampledAs = sampledAs
    }

    package var isEmpty: Bool { ranges.isEmpty }
}

/// What the user allows, and whether a digest of the whole decides at the end.
package struct ResumeRules: Hashable, Sendable {
    package var trust: TrustRules
    package var hasDigest: Bool

    package init(trust: TrustRules = TrustRules(), hasDigest: Bool = false) {
        self.trust = trust
        self.hasDigest = hasDigest
    }
}

/// How the identity ladder begins.
package enum Opening: Hashable, Sendable {
    /// Nothing is held: a plain GET.
    case whole
    /// Go on at the first gap; `ifRange` is sent when a strong validator allows it.
    case goOn(ifRange: String?)
    /// What is held cannot be proven to belong to anything.
    case restart(Reason)
}

/// What a response means for what is held.
package enum Assessment: Hashable, Sendable {
    /// Nothing was held: the body is the file from byte 0.
    case begin(Representation)
    /// The body continues what is held.
    case goOn(Range<ByteCount>, Representation, join: Proof)
    /// The same file, but from byte 0: bytes that are held are read over.
    case rewind(Representation, join: Proof)
    /// Ask for the range again without If-Range: the server seems to dislike it.
    case askPlainly
    /// Ask for the whole: the server does not say enough about its ranges.
    case askWhole
    /// Compare samples of what is held first.
    case sample(Reason)
    /// Proven to be another file. `representation` when this body is that file from byte 0.
    case changed(Reason, Representation?)
    /// Perhaps the same file, but nothing proves it. `representation` when this body is the file from byte 0.
    case restart(Reason, Representation?)
    /// Nothing is missing of a file of this length.
    case complete(total: ByteCount)
    /// The link leads to something else, or nowhere.
    case deadLink(Reason, status: Int)
    case busy(status: Int, retryAfter: Duration?)
    case unusable(Reason)
    case refused(Reason)
}

/// The identity ladder: how to ask for what is missing, and whether an answer may be joined to what is held.
///
/// Invariant: `goOn` and `rewind` come only with a reason to believe that the bytes are of one file, and the reason is
/// the strength of the join.
package enum ResumePolicy {
    /// The first request for a download of which `held` is there.
    package static func opening(held: PartialContent, rules: ResumeRules) -> Opening {
        if held.isEmpty { return .whole }
        if let validator = held.identity.strongValidator { return .goOn(ifRange: validator) }
        if rules.hasDigest || held.sampledAs != nil { return .goOn(ifRange: nil) }
        if rules.trust.strict {
            return .restart(Reason(.noStrongValidator))
        }
        if held.identity.hasValidator || rules.trust.resumesUnproven { return .goOn(ifRange: nil) }
        return .restart(Reason(.nothingProves))
    }

    /// What an answer means. `ifRange` tells whether the request carried the validator.
    package static func assess(
        _ verdict: ResponseVerdict, held: PartialContent, rules: ResumeRules, ifRange: Bool
    ) -> Assessment {
        switch verdict {
        case .whole(let representation):
            if isPage(representation, insteadOf: held, rules) { return .deadLink(Reason(.pageInstead), status: 200) }
            if held.isEmpty { return .begin(representation) }
            return assessWhole(representation, held: held, rules: rules, ifRange: ifRange)
        case .part(let range, let representation):
            return assessPart(range, representation, held: held, rules: rules, ifRange: ifRange)
        case .notModified: return .refused(Reason(.unasked304))
        case .unsatisfied(let representation):
            return assessUnsatisfied(representation, held: held, rules: rules, ifRange: ifRange)
        case .deadLink(let status): return .deadLink(Reason(.serverAnswered, "\(status)"), status: status)
        case .busy(let status, let wish): return .busy(status: status, retryAfter: wish)
        case .unusable(let reason): return .unusable(reason)
        case .refused(let reason): return .refused(reason)
        }
    }

    /// 200 although a range was asked, or because the whole was.
    private static func assessWhole(
        _ representation: Representation, held: PartialContent, rules: ResumeRules, ifRange: Bool
    ) -> Assessment {
        switch compare(representation, held, rules) {
        case .same:
            if ifRange { return .askPlainly }
            // Encoded bytes of unknown length are not the bytes that are held, whatever the tag says.
            if representation.isEncoded, representation.identity.totalBytes == nil {
                return .restart(Reason(.encodesFile), representation)
            }
            return .rewind(representation, join: .strong)
        case .plausible(let reason):
            return ifRange ? .askPlainly : .restart(Reason(.noRangesAnd, reason), representation)
        case .unknown: return .restart(Reason(.noRangesNoValidator), representation)
        case .different(let reason): return .changed(reason, representation)
        }
    }

    private static func assessPart(
        _ range: Range<ByteCount>, _ representation: Representation, held: PartialContent, rules: ResumeRules,
        ifRange: Bool
    ) -> Assessment {
        if let known = held.identity.totalBytes, range.upperBound > known {
            return .changed(Reason(.grew, "\(known)", "\(range.upperBound)"), nil)
        }
        let comparison = compare(representation, held, rules)
        if comparison != .same, isPage(representation, insteadOf: held, rules) {
            return .deadLink(Reason(.pageInstead), status: 206)
        }
        // The length alone holds together what the server does not number.
        let strong: Proof = held.identity.totalBytes ?? representation.identity.totalBytes == nil ? .none : .strong
        switch comparison {
        case .same: return .goOn(range, representation, join: strong)
        case .plausible where ifRange && (representation.identity.etag == nil || held.identity.etag == nil),
            .unknown where ifRange:
            // A 206 to If-Range may leave a validator out: the condition itself has answered (RFC 9110 §15.3.7).
            return .goOn(range, representation, join: strong)
        case .plausible(let reason):
            if rules.hasDigest { return .goOn(range, representation, join: .weak) }
            if rules.trust.strict { return .restart(reason, nil) }
            return isSampled(representation, held) ? .goOn(range, representation, join: .sampled) : .sample(reason)
        case .unknown:
            if rules.hasDigest { return .goOn(range, representation, join: .none) }
            if rules.trust.strict { return .restart(Reason(.validatorGone), nil) }
            if isSampled(representation, held) { return .goOn(range, representation, join: .sampled) }
            guard rules.trust.resumesUnproven else { return .restart(Reason(.validatorGone), nil) }
            return .sample(Reason(.noValidator))
        case .different(let reason): return .changed(reason, nil)
        }
    }

    private static func assessUnsatisfied(
        _ representation: Representation, held: PartialContent, rules: ResumeRules, ifRange: Bool
    ) -> Assessment {
        guard let total = representation.identity.totalBytes else { return .askWhole }
        if case .different(let reason) = compare(representation, held, rules) { return .changed(reason, nil) }
        if held.ranges.holds(0..<total), held.ranges.byteCount == total {
            // Without the condition, only an equal tag tells that it is the same file.
            let isProven =
                ifRange || representation.identity.strongTag != nil && compare(representation, held, rules) == .same
            return isProven || rules.hasDigest ? .complete(total: total) : .askWhole
        }
        if held.ranges.ranges.contains(where: { $0.upperBound > total }) {
            return .changed(Reason(.shrank, "\(total)"), nil)
        }
        return .unusable(Reason(.refusesRange))
    }

    private static func compare(_ representation: Representation, _ held: PartialContent, _ rules: ResumeRules)
        -> IdentityComparison
    {
        for old in held.digests {
            guard let new = representation.digests.first(where: { $0.algorithm == old.algorithm }), new != old else {
                continue
            }
            return .different(Reason(.digestChanged, "\(old)", "\(new)"))
        }
        return .compare(known: held.identity, offered: representation.identity, strict: rules.trust.strict)
    }

    /// Whether samples were compared under just these validators.
    private static func isSampled(_ representation: Representation, _ held: PartialContent) -> Bool {
        guard let sampled = held.sampledAs else { return false }
        return sampled.etag == representation.identity.etag
            && sampled.lastModified == representation.identity.lastModified
    }

    /// A sign-in form or a captive portal: a page where a name promises a file, or where something else is held. What is
    /// held and never had a type was no page by its first bytes.
    private static func isPage(_ representation: Representation, insteadOf held: PartialContent, _ rules: ResumeRules)
        -> Bool
    {
        guard representation.isPage, !rules.trust.acceptsHTML else { return false }
        return held.isEmpty ? representation.isPromisedFile : !held.identity.isPage
    }
}
