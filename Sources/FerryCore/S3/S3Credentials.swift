#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The keys that sign requests to a store.
public struct S3Credentials: Sendable, Hashable {
    package let accessKey: String
    package let secretKey: String
    /// The session token of temporary keys.
    package let sessionToken: String?
    /// The expiry time of temporary keys; `nil` if it is unknown.
    package let expires: Date?

    /// Throws `invalidRequest` for keys that are not valid in a header field: empty keys, and keys with characters
    /// other than printable ASCII.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) throws(DownloadError) {
        guard let keys = S3Credentials(accessKey, secretKey, sessionToken, expires: nil) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableS3Keys), recovery: .needsUser)
        }
        self = keys
    }

    package init?(_ accessKey: String, _ secretKey: String, _ sessionToken: String?, expires: Date?) {
        for text in [accessKey, secretKey, sessionToken].compactMap(\.self) {
            guard !text.isEmpty, text.utf8.count <= 16 << 10, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return nil
            }
        }
        // In the Authorization field, the access key ends at the first slash, and the credential at the first comma.
        guard !accessKey.utf8.contains(UInt8(ascii: "/")), !accessKey.utf8.contains(UInt8(ascii: ",")) else {
            return nil
        }
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expires = expires
    }

    /// Creates credentials from the response of an instance's or a container's metadata service.
    package init?(metadata members: [String: String]) {
        guard members["Code"] ?? "Success" == "Success",
            let accessKey = members["AccessKeyId"], let secretKey = members["SecretAccessKey"]
        else { return nil }
        self.init(accessKey, secretKey, members["Token"], expires: members["Expiration"].flatMap { RFC3339.date($0) })
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `credentials`: printed values end up in logs.
    public var description: String { "credentials" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
