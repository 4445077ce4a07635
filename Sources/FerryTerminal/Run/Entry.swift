package import Ferry
import FerryCore

/// One file of the run, as the run knows it.
package struct Entry: Sendable {
    /// The URL that was asked for, as it may be shown.
    package var url: String?
    /// The part file that it was asked to go on with.
    package var part: String?
    package var download: Download
    /// The name once the server has answered.
    package var name: String?
    /// Monotonic, since the run began; when the server answered, else when it was handed over.
    package var startedAt: Duration

    package init(request: DownloadRequest, download: Download, startedAt: Duration) {
        (url, part) = Self.origin(of: request)
        self.download = download
        self.startedAt = startedAt
    }

    /// What to call it in a message.
    package var shownName: String { name ?? url ?? part.map(Paths.name(of:)) ?? "" }

    /// The URL, as it may be shown, and the part file of a request.
    package static func origin(of request: DownloadRequest) -> (url: String?, part: String?) {
        var part: String?
        if case .part(let path) = request.destination { part = path }
        return (request.sources.first?.redacted, part)
    }
}
