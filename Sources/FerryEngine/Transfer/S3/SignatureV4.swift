import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The texts that AWS Signature Version 4 derives from a request, without cryptography: the canonical request, and the
/// string to sign.
///
/// ```
/// signature = HMAC(key, stringToSign(SHA-256(canonicalRequest)))
/// key = HMAC(HMAC(HMAC(HMAC("AWS4" + secret, date), region), service), "aws4_request")     keySteps
/// ```
struct SignatureV4: Sendable, Hashable {
    /// The SHA-256 of zero bytes.
    static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    struct Field: Sendable, Hashable {
        /// In lower case.
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name.asciiLowercased
            self.value = value
        }
    }

    private let method: String
    private let path: String
    private let query: String
    private let fields: [Field]
    private let payloadDigest: String
    private let time: String
    private let region: String
    private static let service = "s3"

    /// - Parameters:
    ///   - url: The URL from ``S3Endpoint/url(for:region:)``.
    ///   - fields: The signed fields, including Host and `x-amz-date`.
    ///   - payloadDigest: The SHA-256 of the content in hexadecimal, the value of `x-amz-content-sha256`.
    ///   - time: The time from ``time(_:)``.
    init(
        method: String, url: DownloadURL, fields: [Field], payloadDigest: String, time: String, region: String
    ) {
        self.method = method
        path = url.path
        query = url.query ?? ""
        self.fields = fields.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        self.payloadDigest = payloadDigest
        self.time = time
        self.region = region
    }

    /// The value of `x-amz-date`: `20130524T000000Z`.
    static func time(_ date: Date) -> String {
        let digits = RFC3339.text(date).utf8.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
        return String(decoding: digits, as: UTF8.self) + "Z"
    }

    private var date: String { String(decoding: time.utf8.prefix(8), as: UTF8.self) }

    /// The names of the signed fields, separated by semicolons.
    private var names: String { fields.map(\.name).joined(separator: ";") }

    var canonicalRequest: String {
        let lines = fields.map { "\($0.name):\($0.value.trimmedText)\n" }.joined()
        return "\(method)\n\(path)\n\(query)\n\(lines)\n\(names)\n\(payloadDigest)"
    }

    private var scope: String { "\(date)/\(region)/\(Self.service)/aws4_request" }

    /// The data from which the signing key is derived, in order.
    var keySteps: [String] { [date, region, Self.service, "aws4_request"] }

    /// - Parameter digest: The SHA-256 of ``canonicalRequest`` in hexadecimal.
    func stringToSign(_ digest: String) -> String { "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)" }

    /// The value of the Authorization field.
    func authorization(accessKey: String, signature: String) -> String {
        "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
    }
}
