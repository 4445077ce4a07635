import HTTPTypes

/// What the head of a usable response says about the file behind it.
package struct Representation: Hashable, Sendable {
    package var identity: FileIdentity
    /// The name that the server gives the file, not yet made safe.
    package var suggestedName: String?
    /// The server says that it has no ranges: `Accept-Ranges: none`, or the body is encoded.
    package var refusesRanges: Bool
    /// The body is encoded although identity was asked: bytes are saved as sent, parts never joined.
    package var isEncoded: Bool
    /// Digests that the server offers for the whole, strongest first.
    package var digests: [Checksum]
    /// Digests of the body of this one message (RFC 9530 Content-Digest).
    package var messageDigests: [Checksum]
    /// The one that this body is compared with: SHA-256, else SHA-512; others are too weak to blame a server with.
    package var messageDigest: Checksum? {
        messageDigests.first { $0.algorithm == .sha256 } ?? messageDigests.first { $0.algorithm == .sha512 }
    }
    /// The number of bytes that this body declares; `nil` when chunked or ended by close.
    package var bodyBytes: ByteCount?
    /// The body ends with the connection: its end proves nothing.
    package var endsByClose: Bool
    /// It is a web page, and the names that the file is known by promise something else (``PagePolicy``).
    package var isPromisedFile = false
    /// It is a web page by its type.
    package var isPage: Bool { identity.isPage }

    /// Reads the head of a response; `total` is the length of the whole where the status tells it.
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
    /// Content-Length: digits alone, one line or equal ones (RFC 9110 §8.6); below ``ByteCount/bound``.
    var declaredLength: ByteCount? {
        single(.contentLength).flatMap { ASCII.size(ASCII.trimmed(Array($0.utf8)[...])) }
    }
}
