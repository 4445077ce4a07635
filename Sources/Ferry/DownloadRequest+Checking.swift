import FerryCore

extension DownloadRequest {
    /// The request with absolute paths. Throws errors that can be detected without disk access.
    func checked() throws(DownloadError) -> DownloadRequest {
        try checkValues()
        var request = self
        request.maxConnections = min(maxConnections, Self.mostConnections)
        switch destination {
        case .file(let path): request.destination = .file(DownloadManager.absolute(path))
        case .directory(let path, let name):
            request.destination = .directory(DownloadManager.absolute(path), name: name)
        case .part(let path): request.destination = .part(DownloadManager.absolute(path))
        case .stream: break
        }
        if sources.isEmpty {
            guard case .part = destination else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
            if hasSecrets, SecretScope.home(of: self) == nil {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.secretsForNobody), suggestion: ErrorPhrase(.nameServer),
                    recovery: .needsUser)
            }
        }
        _ = try request.destination.resolved()
        return request
    }

    /// The upper bound of `maxConnections`. Fewer connections than this are ever opened to one host.
    private static let mostConnections = 1000
}

extension DownloadRequest {
    /// The request with the changeable properties of another request; secrets given for one origin are not sent to another.
    func changed(to new: DownloadRequest) -> DownloadRequest {
        var request = SecretScope.change(self, sources: new.sources, headers: new.headers)
        let (sources, headers) = (request.sources, request.headers)
        RequestChange(from: self, to: new).apply(to: &request)
        (request.sources, request.headers) = (sources, headers)
        return request
    }

    /// The request after a user's change. Throws `invalidRequest` for values that no request may have, and for a change of a
    /// property that cannot be changed.
    func amended(to wish: DownloadRequest) throws(DownloadError) -> DownloadRequest {
        try RequestChange.check(from: self, to: wish)
        var request = changed(to: wish)
        request.maxConnections = min(request.maxConnections, Self.mostConnections)
        if request.sources.isEmpty { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
        return request
    }
}
