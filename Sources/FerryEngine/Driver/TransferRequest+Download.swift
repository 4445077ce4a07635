import FerryCore

extension TransferRequest {
    /// Creates a request for `source` under the rules of a download request. Every network request on behalf of a
    /// user is made here.
    init(of request: DownloadRequest, from source: DownloadURL, headLimit: Duration) {
        self.init(
            url: source, secrets: SecretScope(of: request, for: source), headLimit: headLimit,
            allowsDowngrade: request.trust.allowsDowngrade, maxRedirects: request.maxRedirects)
        connection = request.connection
        allowsPrivate = request.network.allowsPrivate ?? true
    }
}
