import HTTPTypes

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The requested bytes.
package enum RangeAsk: Hashable, Sendable {
    /// The whole file, without a Range field.
    case whole
    /// `bytes=a-b`, for the half-open range a..<b+1.
    case range(Range<ByteCount>)
    /// `bytes=a-`.
    case from(ByteCount)

    /// The value of the Range field; `nil` for the whole file.
    package var field: String? {
        switch self {
        case .whole: nil
        case .range(let range): "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        case .from(let start): "bytes=\(start)-"
        }
    }

    package var start: ByteCount {
        switch self {
        case .whole: 0
        case .range(let range): range.lowerBound
        case .from(let start): start
        }
    }
}

/// The meaning of a response by itself, before it is compared with the partial content.
package enum ResponseVerdict: Hashable, Sendable {
    /// 200, or 203 from a proxy: the body is the representation from byte 0.
    case whole(Representation)
    /// A 206 that starts at the requested offset: the body is these bytes of the representation.
    case part(Range<ByteCount>, Representation)
    /// 304.
    case notModified
    /// 416, with the length and validators that the server declares.
    case unsatisfied(Representation)
    /// 401, 403, 404, 410: the link is dead or requires credentials.
    case deadLink(Reason, status: Int)
    /// 408, 425, 429, 5xx except 501 and 505, and 202 with Retry-After: retry later.
    case busy(status: Int, retryAfter: Duration?)
    /// A 206 that cannot be used: it is discarded and its connection closed.
    case unusable(Reason)
    /// A response that cannot contain the file.
    case refused(Reason)

    /// The representation in the response, if the response identifies one.
    package var representation: Representation? {
        switch self {
        case .whole(let representation), .part(_, let representation), .unsatisfied(let representation): representation
        case .notModified, .deadLink, .busy, .unusable, .refused: nil
        }
    }

    /// Judges a response head; `now` is used to resolve a Retry-After date if the response has no Date.
    ///
    /// Source: RFC 9110 §14.4, §15.3.7, §15.5.17. A body is read only after `whole` and `part`.
    package static func judge(_ head: ResponseHead, asked: RangeAsk, now: Date) -> ResponseVerdict {
        if !head.values(.contentLength).isEmpty, head.declaredLength == nil {
            return .refused(Reason(.impossibleLength))
        }
        switch head.status {
        case 200, 203:
            let representation = Representation(head, total: nil)
            return .whole(representation.with(total: representation.bodyBytes))
        case 206: return judgePart(head, asked: asked)
        case 304: return .notModified
        case 416:
            if asked == .whole { return .refused(Reason(.unasked416)) }
            let representation = Representation(head, total: nil)
            guard case .unsatisfied(let total)? = head.single(.contentRange).flatMap({ ContentRange($0) }) else {
                return .unsatisfied(representation)
            }
            return .unsatisfied(representation.with(total: total))
        case 401:
            let scheme = AuthAnswer.unanswerable(in: AuthChallenge.parse(head.values(.wwwAuthenticate)))
            let reason = scheme.map { Reason(.serverAnsweredFor, "401", $0) } ?? Reason(.serverAnswered, "401")
            return .deadLink(reason, status: head.status)
        case 403, 404, 410: return .deadLink(Reason(.serverAnswered, "\(head.status)"), status: head.status)
        case 501, 505: return .refused(Reason(.serverAnswered, "\(head.status)"))
        case 408, 425, 429, 500...599:
            return .busy(status: head.status, retryAfter: RetryAfter.delay(in: head, now: now))
        case 202:
            // The server is still creating the file.
            guard let wish = RetryAfter.delay(in: head, now: now) else { fallthrough }
            return .busy(status: head.status, retryAfter: wish)
        default: return .refused(Reason(head.status >= 400 ? .serverAnswered : .answeredNoFile, "\(head.status)"))
        }
    }

    private static func judgePart(_ head: ResponseHead, asked: RangeAsk) -> ResponseVerdict {
        if head.values(.contentType).contains(where: { $0.lowercased().utf8.hasPrefix("multipart/") }) {
            return .unusable(Reason(.severalRanges))
        }
        guard let field = head.single(.contentRange) else {
            return .unusable(Reason(.noContentRange))
        }
        guard case .part(let range, let total)? = ContentRange(field) else {
            return .unusable(Reason(.impossibleRange))
        }
        let representation = Representation(head, total: total)
        if representation.isEncoded { return .unusable(Reason(.encodedRange)) }
        if let length = representation.bodyBytes, length != range.upperBound - range.lowerBound {
            return .unusable(Reason(.lengthsDisagree))
        }
        if asked == .whole {
            // A 206 that was not requested is usable only if it contains the whole file.
            guard range.lowerBound == 0, range.upperBound == total else {
                return .unusable(Reason(.unaskedPart))
            }
            return .whole(representation)
        }
        guard range.lowerBound == asked.start else {
            return .unusable(Reason(.otherStart, "\(asked.start)", "\(range.lowerBound)"))
        }
        return .part(range, representation)
    }
}

extension Representation {
    /// Returns a copy with another total length.
    package func with(total: ByteCount?) -> Representation {
        var copy = self
        copy.identity.totalBytes = total
        return copy
    }
}

/// The metadata of a selected representation (RFC 9110 §8), read from a response head.
package struct Representation: Hashable, Sendable {
    package var identity: FileIdentity
    /// The file name from Content-Disposition, not sanitized.
    package var suggestedName: String?
    /// Whether ranges are unsupported: `Accept-Ranges: none`, or an encoded body.
    package var refusesRanges: Bool
    /// Whether the body has a content coding although identity was requested: it is saved as sent, and parts are never
    /// joined.
    package var isEncoded: Bool
    /// Digests of the whole file that the server declares, strongest first.
    package var digests: [Checksum]
    /// Digests of this message's content (RFC 9530 Content-Digest).
    package var messageDigests: [Checksum]
    /// The digest that this body is verified with: SHA-256, otherwise SHA-512. Weaker algorithms are not used.
    package var messageDigest: Checksum? {
        messageDigests.first { $0.algorithm == .sha256 } ?? messageDigests.first { $0.algorithm == .sha512 }
    }
    /// The declared length of this body in bytes; `nil` if it is chunked or ended by closing the connection.
    package var bodyBytes: ByteCount?
    /// Whether the body is ended by closing the connection, so that its end does not prove that it is complete.
    package var endsByClose: Bool
    /// Whether the response is a web page although the file's names indicate another type (``PagePolicy``).
    package var isPromisedFile = false
    /// Whether the media type is a web page's.
    package var isPage: Bool { identity.isPage }

    /// Reads a response head; `total` is the length of the whole representation if the status declares it.
    package init(_ head: ResponseHead, total: ByteCount?) {
        let etag = head.single(.eTag).flatMap { EntityTag($0) }
        identity = FileIdentity(
            etag: etag?.field,
            lastModified: head.single(.lastModified).flatMap { HTTPDate.parse($0) == nil ? nil : $0 },
            date: head.single(.date).flatMap { HTTPDate.parse($0) == nil ? nil : $0 },
            totalBytes: total, contentType: head.single(.contentType))
        suggestedName = head.values(.contentDisposition).first.flatMap { ContentDisposition.fileName($0) }
        let encodings = head.values(.contentEncoding)
        isEncoded = encodings.contains { !$0.isEmpty && $0.lowercased() != "identity" }
        refusesRanges = isEncoded || head.values(.acceptRanges).contains { $0.lowercased() == "none" }
        digests = DigestField.digests(in: head)
        messageDigests = DigestField.contentDigests(in: head)
        let isChunked = !head.values(.transferEncoding).isEmpty
        bodyBytes = isChunked ? nil : head.declaredLength
        endsByClose = !isChunked && bodyBytes == nil
    }
}

extension ResponseHead {
    /// The value of Content-Length: only digits, in one line or in several equal lines (RFC 9110 §8.6), below
    /// ``ByteCount/bound``.
    package var declaredLength: ByteCount? {
        single(.contentLength).flatMap { ASCII.size(ASCII.trimmed(Array($0.utf8)[...])) }
    }
}
