/// The store for `s3` URLs: AWS, or a server that implements its protocol.
package struct S3Endpoint: Sendable, Hashable {
    /// The part of a request that names the bucket.
    package enum Style: String, Sendable, Hashable {
        /// In the path.
        case path
        /// In the host name.
        case virtual
    }

    /// The URL of the server, possibly with a path; `nil` for AWS.
    package var base: DownloadURL?
    /// The style; `nil` for the default: the path for a custom server, the host name for AWS.
    package var style: Style?

    package init(base: DownloadURL? = nil, style: Style? = nil) {
        self.base = base
        self.style = style
    }

    /// The region of requests for a bucket whose region is unknown.
    package static let defaultRegion = "us-east-1"

    /// Whether a text can be a region. The text becomes a part of host names, and may come from a server.
    package static func isRegion(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 40
            && text.utf8.allSatisfy { ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == UInt8(ascii: "-") }
            && text.utf8.first != UInt8(ascii: "-") && text.utf8.last != UInt8(ascii: "-")
    }

    /// Returns the URL of a request for an object or a bucket, with the path and query as they are signed.
    ///
    /// The result is always on the server of ``base`` or on an AWS server: neither the bucket nor the region can lead
    /// elsewhere.
    ///
    /// - Parameter region: A region for which ``isRegion(_:)`` is true.
    package func url(for object: DownloadURL, region: String) -> DownloadURL {
        let bucket = object.host
        let key = ObjectText.encode(object.objectKey, keepsSlash: true)
        let query = object.query.map { ObjectText.query(ObjectText.parameters(of: $0)) }
        guard let base else {
            let suffix = region.utf8.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
            let host = "s3.\(region.asciiLowercased).\(suffix)"
            // AWS's certificate covers only one label before its own domain.
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
