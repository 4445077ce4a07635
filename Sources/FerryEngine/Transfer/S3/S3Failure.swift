package import FerryCore
import HTTPTypes

/// A failure that a store reports, identified by the code in its XML document.
package struct S3Failure: Sendable, Hashable {
    /// The way to recover from the failure.
    package enum Remedy: Sendable, Hashable {
        /// The bucket is in this region: send the same request there.
        case region(String)
        /// Temporary keys have expired: send the same request with new ones.
        case newKeys
        /// The condition of the request is not met.
        case condition
        /// Pass the response on, to be retried like any other server's response.
        case retry
        case none
    }

    /// The maximum size of an XML document that is read.
    static let mostBytes = 64 << 10

    let status: Int
    /// Letters and digits; empty if the store sent no code.
    let code: String
    private let region: String?

    package init(_ head: ResponseHead, body: [UInt8]) {
        status = head.status
        let root = try? PlainXML(parsing: body, limits: PlainXML.Limits(bytes: Self.mostBytes, nodes: 200, depth: 8))
        func text(_ name: String) -> String? {
            root.flatMap { $0.name == "Error" ? $0.child(named: name)?.text.trimmedText : nil }
        }
        let code = text("Code") ?? ""
        let isCode = code.utf8.count <= 64 && code.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) }
        self.code = isCode ? code : ""
        let named = HTTPField.Name("x-amz-bucket-region").flatMap { head.single($0) } ?? text("Region")
        region = named.flatMap { S3Endpoint.isRegion($0) ? $0 : nil }
    }

    /// Whether the body of a response must be parsed as a failure. Any other response contains the requested content, or is
    /// handled by the engine.
    static func isFailure(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 200...299, 304, 416: false
        case 301, 307: true
        default: head.status >= 300
        }
    }

    package var remedy: Remedy {
        switch (status, code) {
        case (412, _): .condition
        // The store does not implement the request, and a retry does not change that.
        case (501, _): .none
        case (_, "ExpiredToken"), (_, "TokenRefreshRequired"): .newKeys
        case (408, _), (429, _), (500..., _), (_, "SlowDown"), (_, "RequestTimeout"),
            (409, "ConditionalRequestConflict"):
            .retry
        case (301, _), (307, _), (400, _): region.map { .region($0) } ?? .none
        default: .none
        }
    }

    /// The category of the error.
    var errorCode: DownloadError.Code {
        switch (status, code) {
        case (_, "InvalidAccessKeyId"), (_, "SignatureDoesNotMatch"), (_, "ExpiredToken"), (_, "InvalidToken"),
            (401, _), (403, _):
            code == "RequestTimeTooSkewed" ? .refused : .credentials
        default: .refused
        }
    }

    /// The sentence of the error.
    ///
    /// - Parameters:
    ///   - object: The requested object.
    ///   - isSigned: Whether the request was signed with keys.
    package func phrase(of object: DownloadURL, isSigned: Bool) -> ErrorPhrase {
        let name = object.redacted
        return switch (status, code) {
        case (_, "NoSuchBucket"): ErrorPhrase(.noSuchBucket, name, object.host)
        case (_, "NoSuchKey"), (404, ""): ErrorPhrase(.noSuchObject, name)
        case (_, "NoSuchVersion"): ErrorPhrase(.noSuchObject, name)
        case (_, "NoSuchUpload"): ErrorPhrase(.uploadGone, name)
        case (_, "InvalidAccessKeyId"): ErrorPhrase(.unknownS3Keys, name)
        case (_, "SignatureDoesNotMatch"): ErrorPhrase(.wrongS3Keys, name)
        case (_, "ExpiredToken"), (_, "InvalidToken"), (_, "TokenRefreshRequired"): ErrorPhrase(.expiredS3Keys, name)
        case (_, "RequestTimeTooSkewed"): ErrorPhrase(.clockIsWrong, name)
        case (_, "InvalidObjectState"): ErrorPhrase(.archivedObject, name)
        case (301, _), (307, _), (_, "AuthorizationHeaderMalformed"), (_, "PermanentRedirect"):
            ErrorPhrase(.otherRegion, name, region ?? "?")
        case (401, _), (403, _): isSigned ? ErrorPhrase(.objectDenied, name) : ErrorPhrase(.objectNeedsKeys, name)
        default: ErrorPhrase(.storeAnswered, name, code.isEmpty ? "\(status)" : "\(status) \(code)")
        }
    }
}
