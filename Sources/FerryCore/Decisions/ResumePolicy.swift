/// The partial content of a download at the time of a request.
package struct PartialContent: Hashable, Sendable {
    package var identity: FileIdentity
    /// The byte ranges that are present and valid.
    package var ranges: RangeSet<ByteCount>
    /// The validators under which samples of the partial content matched the server's bytes.
    package var sampledAs: FileIdentity?
    /// Digests of the whole file that the server declared with the present bytes.
    package var digests: [Checksum] = []

    package init(identity: FileIdentity, ranges: RangeSet<ByteCount>, sampledAs: FileIdentity? = nil) {
        self.identity = identity
        self.ranges = ranges
        self.sampledAs = sampledAs
    }

    package var isEmpty: Bool { ranges.isEmpty }
}

/// The user's trust rules, and whether the complete file will be verified with a digest.
package struct ResumeRules: Hashable, Sendable {
    package var trust: TrustRules
    package var hasDigest: Bool
    /// Whether the partial content can be read again, and so compared by samples. False for a stream. Default true.
    package var canSample = true

    package init(trust: TrustRules = TrustRules(), hasDigest: Bool = false) {
        self.trust = trust
        self.hasDigest = hasDigest
    }
}

/// The first request of a run.
package enum Opening: Hashable, Sendable {
    /// No partial content: a plain GET.
    case whole
    /// Resume at the first gap; `ifRange` is sent if there is a strong validator.
    case goOn(ifRange: String?)
    /// Nothing identifies the file of the partial content, so no bytes can be joined to it.
    case restart(Reason)
}

/// The meaning of a response in relation to the partial content.
package enum Assessment: Hashable, Sendable {
    /// No partial content: the body is the file from byte 0.
    case begin(Representation)
    /// The body continues the partial content.
    case goOn(Range<ByteCount>, Representation, join: Proof)
    /// The same file from byte 0: bytes that are already present are skipped.
    case rewind(Representation, join: Proof)
    /// Request the range again without If-Range, which the server does not seem to support.
    case askPlainly
    /// Request the whole file, because the server does not declare enough about its ranges.
    case askWhole
    /// Compare samples of the partial content first.
    case sample(Reason)
    /// Proven to be another file. The representation is present if this body is that file from byte 0.
    case changed(Reason, Representation?)
    /// Possibly the same file, but unproven. The representation is present if this body is the file from byte 0.
    case restart(Reason, Representation?)
    /// All bytes of a file of this length are present.
    case complete(total: ByteCount)
    /// The link leads to other content, or nowhere.
    case deadLink(Reason, status: Int)
    case busy(status: Int, retryAfter: Duration?)
    case unusable(Reason)
    case refused(Reason)
}

/// The meaning of a response to the request for a sample of the partial content.
package enum SampleAssessment: Hashable, Sendable {
    /// The body is the requested block.
    case compare(Representation)
    case different(FileIdentity)
    case inconclusive(Reason)
    /// The link leads to other content, or nowhere.
    case deadLink(Reason, status: Int)
    /// Not a file; the same request would get the same response.
    case refused(Reason)
    case busy(status: Int)

    /// Whether the link leads to no file.
    package var isDeadEnd: Bool {
        switch self {
        case .deadLink, .refused: true
        case .compare, .different, .inconclusive, .busy: false
        }
    }
}

/// The resume rules: how to request the missing bytes, and whether a response may be joined to the partial content.
///
/// Invariant: `goOn` and `rewind` are returned only with evidence that all bytes belong to one file; `join` is the
/// strength of that evidence.
package enum ResumePolicy {
    /// Returns the first request of a download that has the partial content `held`.
    package static func opening(held: PartialContent, rules: ResumeRules) -> Opening {
        if held.isEmpty { return .whole }
        if let validator = held.identity.strongValidator { return .goOn(ifRange: validator) }
        if rules.hasDigest || held.sampledAs != nil { return .goOn(ifRange: nil) }
        if rules.trust.strict {
            return .restart(Reason(.noStrongValidator))
        }
        if held.identity.hasValidator || rules.trust.resumesUnproven { return .goOn(ifRange: nil) }
        return .restart(Reason(rules.canSample ? .nothingProves : .noValidator))
    }

    /// Returns the meaning of a response. `ifRange` is true if the request had an If-Range field.
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
        case .deadLink(let reason, let status): return .deadLink(reason, status: status)
        case .busy(let status, let wish): return .busy(status: status, retryAfter: wish)
        case .unusable(let reason): return .unusable(reason)
        case .refused(let reason): return .refused(reason)
        }
    }

    /// Returns the meaning of a response to the request for `block` of the partial content.
    package static func assessSample(
        _ verdict: ResponseVerdict, of block: Range<ByteCount>, held: PartialContent, rules: ResumeRules
    ) -> SampleAssessment {
        switch verdict {
        case .whole(let representation) where isPage(representation, insteadOf: held, rules):
            return .deadLink(Reason(.pageInstead), status: 200)
        case .whole(let representation) where compare(representation, held, rules).isContradiction:
            if let reason = ReplacementPolicy.refusal(of: representation, insteadOf: held.identity, rules) {
                return .deadLink(reason, status: 200)
            }
            return .inconclusive(Reason(.noRanges))
        case .part(let range, let representation):
            if let total = held.identity.totalBytes, let other = representation.identity.totalBytes, total != other {
                guard case .inconsistent(let reason) = compare(representation, held, rules) else {
                    return .different(representation.identity)
                }
                return .deadLink(reason, status: 206)
            }
            return range == block ? .compare(representation) : .inconclusive(Reason(.tooLittle))
        case .deadLink(let reason, let status): return .deadLink(reason, status: status)
        case .busy(let status, _): return .busy(status: status)
        case .refused(let reason): return .refused(reason)
        case .unusable(let reason): return .inconclusive(reason)
        case .whole: return .inconclusive(Reason(.noRanges))
        case .unsatisfied: return .inconclusive(Reason(.serverAnswered, "416"))
        case .notModified: return .inconclusive(Reason(.unasked304))
        }
    }

    /// Assesses a 200 response to a request for a range or for the whole file.
    private static func assessWhole(
        _ representation: Representation, held: PartialContent, rules: ResumeRules, ifRange: Bool
    ) -> Assessment {
        let comparison = compare(representation, held, rules)
        switch comparison {
        case .same:
            if ifRange { return .askPlainly }
            // The length of encoded content differs from that of the partial content, even under an equal tag.
            if representation.isEncoded, representation.identity.totalBytes == nil {
                return .restart(Reason(.encodesFile), representation)
            }
            return .rewind(representation, join: .strong)
        case .plausible(let reason):
            return ifRange ? .askPlainly : .restart(Reason(.noRangesAnd, reason), representation)
        case .inconsistent where representation.isEncoded:
            return ifRange ? .askPlainly : .restart(Reason(.encodesFile), representation)
        case .inconsistent(let reason):
            return rules.trust.acceptsHTML ? .changed(reason, representation) : .deadLink(reason, status: 200)
        case .unknown, .different:
            if let reason = ReplacementPolicy.refusal(of: representation, insteadOf: held.identity, rules) {
                return .deadLink(reason, status: 200)
            }
            if case .different(let reason) = comparison { return .changed(reason, representation) }
            return .restart(Reason(.noRangesNoValidator), representation)
        }
    }

    private static func assessPart(
        _ range: Range<ByteCount>, _ representation: Representation, held: PartialContent, rules: ResumeRules,
        ifRange: Bool
    ) -> Assessment {
        if let known = held.identity.totalBytes, range.upperBound > known {
            return otherLength(Reason(.grew, "\(known)", "\(range.upperBound)"), representation, held)
        }
        // Without a known total length, a join under equal validators proves nothing.
        let strong: Proof = held.identity.totalBytes ?? representation.identity.totalBytes == nil ? .none : .strong
        switch compare(representation, held, rules) {
        case .same: return .goOn(range, representation, join: strong)
        case .plausible where ifRange && (representation.identity.etag == nil || held.identity.etag == nil),
            .unknown where ifRange:
            // A 206 response to If-Range may omit a validator, because the condition has been evaluated (RFC 9110
            // §15.3.7).
            return .goOn(range, representation, join: strong)
        case .plausible(let reason):
            if rules.hasDigest { return .goOn(range, representation, join: .weak) }
            if rules.trust.strict { return .restart(reason, nil) }
            return isSampled(representation, held) ? .goOn(range, representation, join: .sampled) : .sample(reason)
        case .unknown:
            if rules.hasDigest { return .goOn(range, representation, join: .none) }
            if rules.trust.strict || !rules.canSample { return .restart(Reason(.noValidator), nil) }
            if isSampled(representation, held) { return .goOn(range, representation, join: .sampled) }
            // Bytes that were received under a strong validator are compared before they are discarded for a response without
            // one.
            guard rules.trust.resumesUnproven || held.identity.strongValidator != nil else {
                return .restart(Reason(.validatorGone), nil)
            }
            return .sample(Reason(.noValidator))
        case .different(let reason): return contradiction(reason, representation, held)
        case .inconsistent: return .askWhole
        }
    }

    /// Assesses a response to a range request that cannot belong to the held representation. Without evidence of its
    /// own, it proves nothing; the response to a request for the whole file then decides.
    private static func contradiction(
        _ reason: Reason, _ representation: Representation, _ held: PartialContent
    ) -> Assessment {
        ReplacementPolicy.hasEvidence(representation, against: held.identity) ? .changed(reason, nil) : .askWhole
    }

    /// Assesses a response to a range request whose length, as far as it is known, is not that of the held representation.
    private static func otherLength(
        _ reason: Reason, _ representation: Representation, _ held: PartialContent
    ) -> Assessment {
        let validator = IdentityComparison.commonValidator(known: held.identity, offered: representation.identity)
        return validator == nil ? contradiction(reason, representation, held) : .askWhole
    }

    private static func assessUnsatisfied(
        _ representation: Representation, held: PartialContent, rules: ResumeRules, ifRange: Bool
    ) -> Assessment {
        guard let total = representation.identity.totalBytes else { return .askWhole }
        switch compare(representation, held, rules) {
        case .different(let reason): return contradiction(reason, representation, held)
        case .inconsistent: return .askWhole
        case .same, .plausible, .unknown: break
        }
        if held.ranges.holds(0..<total), held.ranges.byteCount == total {
            // Without If-Range, only an equal strong tag proves that the file is the same.
            let isProven =
                ifRange || representation.identity.strongTag != nil && compare(representation, held, rules) == .same
            return isProven || rules.hasDigest ? .complete(total: total) : .askWhole
        }
        if held.ranges.ranges.contains(where: { $0.upperBound > total }) {
            return otherLength(Reason(.shrank, "\(total)"), representation, held)
        }
        return .unusable(Reason(.refusesRange))
    }

    private static func compare(_ representation: Representation, _ held: PartialContent, _ rules: ResumeRules)
        -> IdentityComparison
    {
        let (known, offered) = (held.identity.totalBytes, representation.identity.totalBytes)
        for old in held.digests {
            guard let new = representation.digests.first(where: { $0.algorithm == old.algorithm }) else { continue }
            if new != old { return .different(Reason(.digestChanged, "\(old)", "\(new)")) }
            if let known, let offered, known != offered {
                return .inconsistent(Reason(.otherSizeUnder, "\(known)", "\(offered)", "\(new)"))
            }
        }
        return .compare(known: held.identity, offered: representation.identity, strict: rules.trust.strict)
    }

    /// Whether samples were compared under these validators.
    private static func isSampled(_ representation: Representation, _ held: PartialContent) -> Bool {
        guard let sampled = held.sampledAs else { return false }
        guard sampled.lastModified == representation.identity.lastModified else { return false }
        // Without a shared tag, the date decides: the server sent another tag for each sample (`SamplePlan.common`).
        return sampled.hasSameTag(as: representation.identity) || sampled.etag == nil && sampled.lastModified != nil
    }

    /// Whether the response is a web page (sign-in form, captive portal) although a name or the partial content
    /// indicates another type. Partial content without a recorded type was sniffed, and is not a page.
    ///
    /// Only whole responses are judged: a 206 response with the requested range belongs to the file, whatever its type.
    private static func isPage(_ representation: Representation, insteadOf held: PartialContent, _ rules: ResumeRules)
        -> Bool
    {
        guard representation.isPage, !rules.trust.acceptsHTML else { return false }
        return held.isEmpty ? representation.isPromisedFile : !held.identity.isPage
    }
}
