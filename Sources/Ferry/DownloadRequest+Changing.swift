import FerryCore

extension DownloadRequest {
    /// The request with the changeable properties of another one; secrets given for one origin are not sent to another.
    func changed(to new: DownloadRequest) -> DownloadRequest {
        var request = SecretScope.change(self, sources: new.sources, headers: new.headers)
        let (sources, headers) = (request.sources, request.headers)
        RequestChange(from: self, to: new).apply(to: &request)
        (request.sources, request.headers) = (sources, headers)
        return request
    }

    /// The request after a user's change. Throws `invalidRequest` for values that no request may have.
    func amended(to wish: DownloadRequest) throws(DownloadError) -> DownloadRequest {
        try RequestChange(from: self, to: wish).request.checkValues()
        let request = changed(to: wish)
        if request.sources.isEmpty { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
        return request
    }
}
