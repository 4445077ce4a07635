import FerryCore

extension DownloadRequest {
    /// The request with the changeable properties of another one; secrets given for one origin are not sent to another.
    func changed(to new: DownloadRequest) -> DownloadRequest {
        var request = SecretScope.change(self, sources: new.sources, headers: new.headers)
        let (sources, headers) = (request.sources, request.headers)
        RequestChange(from: self, to: new).apply(to: &request)
        (request.sources, request.headers) = (sources, headers)
        request.maxConnections = max(1, request.maxConnections)
        return request
    }

    /// Whether a running download must be stopped and started again for this request.
    func needsNewRun(after old: DownloadRequest) -> Bool {
        sources != old.sources || headers != old.headers || checksum != old.checksum
            || network.allowsPrivate != old.network.allowsPrivate || trust.acceptsHTML != old.trust.acceptsHTML
    }
}
