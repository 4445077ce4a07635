import FerryCore

extension TransferRequest {
    /// Asks for `source`, whoever named it, as a download's request allows: the one place where a request for the wire is
    /// made of what a user asked for.
    init(of request: DownloadRequest, from source: DownloadURL, headLimit: Duration) {
        self.init(
            url: source, secrets: SecretScope(of: request, for: source), headLimit: headLimit,
            allowsDowngrade: request.trust.allowsDowngrade)
        allowsPrivate = request.network.allowsPrivate ?? true
    }
}
