import Crypto
import FerryCore
import HTTPTypes
import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The fields of a request to a store, signed if there are keys.
struct S3Fields {
    let method: HTTPRequest.Method
    /// The URL from ``S3Endpoint/url(for:region:)``.
    let url: DownloadURL
    let userAgent: String
    /// Ferry's own fields.
    let own: HTTPFields
    /// The user's fields that may be sent, without those that affect the choice of server or the signature.
    let user: HTTPFields
    /// The SHA-256 of the content in hexadecimal.
    let contentDigest: String

    /// - Parameter account: If its ``S3Account/keys`` are `nil`, the request is not signed.
    func headers(_ account: S3Account, now: Date) -> HTTPHeaders {
        let names = ["authorization", "host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
        var kept = HTTPFields()
        for field in user where !names.contains(field.name.canonicalName) { kept.append(field) }
        var headers = OutgoingFields.make(
            host: url.authority, userAgent: userAgent, own: own, user: kept, cookies: nil, authorization: nil)
        guard let keys = account.keys else { return headers }
        let time = SignatureV4.time(now)
        headers.add(name: "x-amz-date", value: time)
        headers.add(name: "x-amz-content-sha256", value: contentDigest)
        if let token = keys.sessionToken { headers.add(name: "x-amz-security-token", value: token) }
        let signed = headers.compactMap { name, value -> SignatureV4.Field? in
            let name = name.lowercased()
            let isSigned = name == "host" || name.utf8.hasPrefix("x-amz-") || Self.conditions.contains(name)
            return isSigned ? SignatureV4.Field(name, value) : nil
        }
        let signature = SignatureV4(
            method: method.rawValue, url: url, fields: signed, payloadDigest: contentDigest, time: time,
            region: account.region)
        headers.add(name: "Authorization", value: Self.authorization(signature, keys))
        return headers
    }

    private static let conditions: Set<String> = [
        "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "content-type",
    ]

    /// The value of the Authorization field.
    static func authorization(_ signature: SignatureV4, _ keys: S3Credentials) -> String {
        var key = SymmetricKey(data: Array("AWS4\(keys.secretKey)".utf8))
        for step in signature.keySteps {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(step.utf8), using: key))
        }
        let text = signature.stringToSign(sha256(Array(signature.canonicalRequest.utf8)))
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
        return signature.authorization(accessKey: keys.accessKey, signature: HexText.string(code))
    }

    /// The digest in hexadecimal.
    static func sha256(_ bytes: some Collection<UInt8>) -> String {
        HexText.string(SHA256.hash(data: Array(bytes)))
    }
}
