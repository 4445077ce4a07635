import FerryCore

extension LiveDownload {
    /// Creates a download that has left the list from the event that ended it; `nil` for an event that ends nothing.
    ///
    /// The object is closed and in no registry; operations on it have no effect.
    convenience init?(ended event: DownloadEvent) {
        let end: DownloadState
        var finished: FinishedDownload?
        switch event.kind {
        case .completed(let file):
            end = .completed(file.proof)
            finished = file
        case .failed(let error): end = .failed(error)
        case .cancelled: end = .cancelled
        case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: return nil
        }
        // A stream has no path.
        let path = finished.flatMap { $0.path.isEmpty ? nil : $0.path }
        var request = DownloadRequest(
            sources: [], destination: path.map { DownloadRequest.Destination.file($0) } ?? .part(""))
        request.id = event.id
        let name = path.map(Paths.name) ?? event.id.rawValue
        let bytes = finished?.totalBytes
        let status = DownloadStatus(
            id: event.id, state: end, progress: DownloadProgress(completedBytes: bytes ?? 0, totalBytes: bytes),
            name: name, path: path)
        self.init(
            request: request, status: status, session: event.session ?? "", finished: finished,
            registry: LiveRegistry())
        close()
    }
}
