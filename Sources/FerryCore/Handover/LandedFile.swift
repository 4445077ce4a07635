import HTTPTypes

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The facts that are stored with a file that the system has fetched, until the file is spliced into the part file.
///
/// Decoding checks every value: the facts are read from an attribute of a file.
package struct LandedFacts: Hashable, Sendable {
    package static let currentVersion = 1
    /// The maximum size of the stored form in bytes, so that it fits into the inode or into one additional block.
    package static let maxBytes = 3_072
    /// The maximum size of a field's value in bytes; longer ones are dropped.
    static let maxValueBytes = 1_100
    /// The fields that affect the verdict, in the order in which they are kept while there is room.
    private static let kept: [HTTPField.Name] = [
        .contentRange, .eTag, .lastModified, .contentLength, .contentEncoding, .date, .contentType, .retryAfter,
        .transferEncoding, .acceptRanges, .contentDisposition,
    ]

    /// The status, and the fields that affect the verdict.
    package let head: ResponseHead
    /// The boot during which the file landed, while its bytes are not synced; `nil` once they are.
    package let unsyncedBoot: String?

    /// Keeps the parts of a response head that affect the verdict.
    package init(_ head: ResponseHead, unsyncedBoot: String?) {
        var fields = HTTPFields()
        var room = Self.maxBytes - 512
        for name in Self.kept {
            for field in head.headers[fields: name] where field.value.utf8.count <= Self.maxValueBytes {
                let bytes = name.canonicalName.utf8.count + 2 * field.value.utf8.count + 8
                guard bytes <= room else { continue }
                room -= bytes
                fields.append(field)
            }
        }
        self.head = ResponseHead(status: head.status, headers: fields)
        self.unsyncedBoot = unsyncedBoot.map { String($0.prefix(128)) }
    }
}

extension LandedFacts: Codable {
    private enum CodingKeys: String, CodingKey { case version, status, fields, unsyncedBoot }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let status = try container.decode(Int.self, forKey: .status)
        let fields = try container.decode(HeaderList.self, forKey: .fields).fields
        let boot = try container.decodeIfPresent(String.self, forKey: .unsyncedBoot)
        guard try container.decode(Int.self, forKey: .version) == Self.currentVersion, 100..<600 ~= status,
            boot?.utf8.count ?? 0 <= 512
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .status, in: container, debugDescription: "facts that no landed file has")
        }
        self.init(ResponseHead(status: status, headers: fields), unsyncedBoot: boot)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.currentVersion, forKey: .version)
        try container.encode(head.status, forKey: .status)
        try container.encode(HeaderList(head.headers), forKey: .fields)
        try container.encodeIfPresent(unsyncedBoot, forKey: .unsyncedBoot)
    }
}

/// Whether a landed file may be spliced into the partial content.
///
/// The system's file is trusted no more than a server's response: status, exact Content-Range, total, validator and
/// length are checked as for a response that Ferry has read itself.
package enum LandedVerdict: Hashable, Sendable {
    /// The file contains the bytes of this range. `join` is the strength of joining them to the other bytes.
    case splice(Range<ByteCount>, Representation, join: Proof)
    /// All bytes of the range are already claimed.
    case repeated
    case refused(LandedRefusal)

    /// Judges a landed file of `length` bytes.
    ///
    /// - Parameters:
    ///   - held: The bytes that the journal claims, with their identity.
    ///   - total: The size of the whole file in the journal.
    ///   - acceptsUnproven: Whether a whole file without a strong validator is accepted.
    package static func judge(
        _ head: ResponseHead, length: ByteCount, lease: Lease, held: PartialContent, total: ByteCount?,
        rules: ResumeRules, acceptsUnproven: Bool, now: Date
    ) -> LandedVerdict {
        var held = held
        held.identity.totalBytes = total ?? held.identity.totalBytes
        guard let range = lease.range else {
            return judgeWhole(
                head, length: length, lease: lease, held: held, rules: rules, acceptsUnproven: acceptsUnproven,
                now: now)
        }
        // The partial content no longer has the identity that it had at the time of the lease.
        guard let validator = lease.validator, let present = held.identity.strongValidator,
            present.utf8.elementsEqual(validator.utf8), let total = held.identity.totalBytes, total == lease.total
        else { return .refused(.stale) }
        if held.ranges.holds(range) { return .repeated }
        // The condition of the request failed: the server has another version.
        if head.status == 412 { return .refused(.conditionFailed) }
        let verdict = ResponseVerdict.judge(head, asked: .range(range), now: now)
        let assessment = ResumePolicy.assess(verdict, held: held, rules: rules, ifRange: true)
        guard case .goOn(let sent, let representation, .strong) = assessment else {
            return .refused(.answered(assessment))
        }
        guard sent == range else { return .refused(.otherRange(sent)) }
        // If-Range proves nothing here, because Ferry has not seen the request that was answered last.
        guard representation.identity.totalBytes == total,
            case .same = IdentityComparison.compare(
                known: held.identity, offered: representation.identity, strict: true)
        else { return .refused(.unproven) }
        guard length == range.upperBound - range.lowerBound else { return .refused(.wrongLength(length)) }
        return .splice(range, representation, join: .strong)
    }

    private static func judgeWhole(
        _ head: ResponseHead, length: ByteCount, lease: Lease, held: PartialContent, rules: ResumeRules,
        acceptsUnproven: Bool, now: Date
    ) -> LandedVerdict {
        // The app may have been killed after the claim.
        if let total = held.identity.totalBytes, total > 0, held.ranges.holds(0..<total) { return .repeated }
        guard held.ranges.isEmpty else { return .refused(.overtaken) }
        let verdict = ResponseVerdict.judge(head, asked: .whole, now: now)
        let assessment = ResumePolicy.assess(
            verdict, held: PartialContent(identity: FileIdentity(), ranges: RangeSet()), rules: rules, ifRange: false)
        guard case .begin(let representation) = assessment else { return .refused(.answered(assessment)) }
        // The system decodes an encoded body, and a body without a length may have been cut off.
        guard !representation.isEncoded, let declared = representation.bodyBytes, declared > 0 else {
            return .refused(.unproven)
        }
        // There is no name here that could indicate a web page (``PagePolicy``).
        if representation.isPage, !rules.trust.acceptsHTML {
            return .refused(.answered(.deadLink(Reason(.pageInstead), status: head.status)))
        }
        guard length == declared else { return .refused(.wrongLength(length)) }
        if let total = lease.total ?? held.identity.totalBytes, total != declared {
            var known = held.identity
            known.totalBytes = total
            if let reason = ReplacementPolicy.inconsistency(of: representation, with: known, rules) {
                return .refused(.answered(.deadLink(reason, status: head.status)))
            }
            return .refused(.answered(.changed(Reason(.sizeChanged, "\(total)", "\(declared)"), representation)))
        }
        // The system repeats requests by itself, so the body may have been joined from several responses.
        let identity = representation.identity
        let join: Proof = identity.strongValidator != nil ? .strong : identity.hasValidator ? .weak : .none
        guard join == .strong || acceptsUnproven else { return .refused(.unproven) }
        return .splice(0..<declared, representation.with(total: declared), join: join)
    }
}

/// The reason why a landed file is not spliced. Its range is missing again, and nothing else has changed.
package enum LandedRefusal: Hashable, Sendable {
    /// The partial content has another identity than the lease.
    case stale
    /// The whole file landed, but the app has fetched bytes in the meantime.
    case overtaken
    /// The response contains other bytes of the file.
    case otherRange(Range<ByteCount>)
    /// The server has another version of the file: the request was conditional, so nothing was fetched.
    case conditionFailed
    /// The response does not identify its content sufficiently, or proves less than the download demands.
    case unproven
    /// The length of the file differs from the length in the response.
    case wrongLength(ByteCount)
    /// The result of the resume rules for the response; the app's next request decides.
    case answered(Assessment)
    /// The file landed before the system restarted, and its bytes had not been synced.
    case notSynced
    /// The facts or the bytes cannot be read, or the file belongs to another user.
    case damaged

    /// Whether the response shows that the file on the server has changed.
    package var showsChange: Bool {
        switch self {
        case .answered(.changed), .answered(.restart), .conditionFailed: true
        case .answered, .stale, .overtaken, .otherRange, .unproven, .wrongLength, .notSynced, .damaged: false
        }
    }
}
