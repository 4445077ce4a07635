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
}
