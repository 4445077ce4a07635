/// Scheme, host and port: whom a secret was given for (RFC 9110 §4.3.1).
package struct Origin: Sendable, Hashable {
    package let scheme: DownloadURL.Scheme
    /// As in ``DownloadURL/host``.
    package let host: String
    package let port: Int

    package init(scheme: DownloadURL.Scheme, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }
}
