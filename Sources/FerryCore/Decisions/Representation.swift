import HTTPTypes

/// The metadata of a selected representation (RFC 9110 §8), read from a response head.
package struct Representation: Hashable, Sendable {
    package var identity: FileIdentity
    /// The file name of Content-Disposition, not yet sanitized.
    package var suggestedName: String?
    /// Whether ranges are unsupported: `Accept-Ranges: none`, or an encoded body.
    package var refusesRanges: Bool
    /// The body has a content coding although identity was requested: it is saved as sent, and parts are never joined.
    package var isEncoded: Bool
    /// Digests of the whole that the server declares, strongest first.
    package var digests: [Checksum]
    /// Digests of this message's content (RFC 9530 Content-Digest).
    package var messageDigests: [Checksum]
    /// The digest that this body is verified with: SHA-256, else SHA-512. Weaker algorithms are not used.
    package var messageDigest: Checksum? {
        messageDigests.first { $0.algorithm == .sha256 } ?? messageDigests.first { $0.algorithm == .sha512 }
    }
    /// The declared length of this body in bytes; `nil` when chunked or ended by close.
    package var bodyBytes: ByteCount?
    /// The body is ended by close, so its end does not prove that it is complete.
    package var endsByClose: Bool
    /// A web page although the file's names indicate another type (``PagePolicy``).
    package var isPromisedFile = false
    /// Whether the media type is that of a web page.
    package var isPage: Bool { identity.isPage }

    /// Reads a response head; `total` is the length of the whole, where the status declares it.
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
    /// Content-Length: digits only, one line or equal ones (RFC 9110 §8.6), below ``ByteCount/bound``.
    var declaredLength: ByteCount? {
        single(.contentLength).flatMap { ASCII.size(ASCII.trimmed(Array($0.utf8)[...])) }
    }
}
