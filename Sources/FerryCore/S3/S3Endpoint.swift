/// The store that `s3` URLs are of: AWS, or a server that speaks its protocol.
package struct S3Endpoint: Sendable, Hashable {
    /// Where requests name the bucket.
    package enum Style: String, Sendable, Hashable {
        /// In the path.
        case path
        /// In the host name.
        case virtual
    }

    /// The URL of the server, perhaps with a path; `nil` for AWS.
    package var base: DownloadURL?
    /// `nil` for the default: the path for a server of one's own, the host name for AWS.
    package var style: Style?

    package init(base: DownloadURL? = nil, style: Style? = nil) {
        self.base = base
        self.style = style
    }

    /// The region of requests for a bucket of which nothing else is known.
    package static let defaultRegion = "us-east-1"

    /// Whether a text can be a region. It becomes a part of host names, and servers name it.
    package static func isRegion(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 40
            && text.utf8.allSatisfy { ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == UInt8(ascii: "-") }
            && text.utf8.first != UInt8(ascii: "-") && text.utf8.last != UInt8(ascii: "-")
    }

    /// Returns the URL of requests for an object or a bucket, its path and query as they are signed.
    ///
    /// The result is always on the server of ``base``, or on one of AWS's: neither bucket nor region can lead elsewhere.
    ///
    /// - Parameter region: One for which ``isRegion(_:)`` is true.
    package func url(for object: DownloadURL, region: String) -> DownloadURL {
        let bucket = object.host
        let key = ObjectText.encode(object.objectKey, keepsSlash: true)
        let query = object.query.map { ObjectText.query(ObjectText.parameters(of: $0)) }
        guard let base else {
            let suffix = region.utf8.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
            let host = "s3.\(region.asciiLowercased).\(suffix)"
            // The certificate of AWS is for one label before its own.
            let isInHost = style != .path && !bucket.utf8.contains(UInt8(ascii: "."))
            return DownloadURL(
                scheme: .https, host: isInHost ? "\(bucket).\(host)" : host, port: DownloadURL.Scheme.https.defaultPort,
                path: isInHost ? "/" + key : "/\(bucket)/\(key)", query: query, credentials: nil)
        }
        let isSlashed = base.path.utf8.last == UInt8(ascii: "/")
        let prefix = ObjectText.encode(
            PercentEncoding.decode(base.path.utf8.dropLast(isSlashed ? 1 : 0)), keepsSlash: true)
        let isInHost = style == .virtual && IPAddress(base.host) == nil
        return DownloadURL(
            scheme: base.scheme, host: isInHost ? "\(bucket).\(base.host)" : base.host, port: base.port,
            path: isInHost ? "\(prefix)/\(key)" : "\(prefix)/\(bucket)/\(key)", query: query, credentials: nil)
    }
}
