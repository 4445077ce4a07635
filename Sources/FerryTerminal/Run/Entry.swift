package import Ferry
import FerryCore

/// The state of one file in a run.
package struct Entry: Sendable {
    /// The redacted URL of the request.
    package var url: String?
    /// The part file that the request resumes.
    package var part: String?
    package var download: Download
    /// The name from the server's response.
    package var name: String?
    /// The bytes that were there before this run.
    package var offset: ByteCount = 0
    /// When the server responded, or until then, when the manager received the request. Monotonic, since the start of
    /// the run.
    package var startedAt: Duration

    package init(request: DownloadRequest, download: Download, startedAt: Duration) {
        (url, part) = Self.origin(of: request)
        self.download = download
        self.startedAt = startedAt
    }

    /// The name for messages.
    package var shownName: String { name ?? url ?? part.map(Paths.name(of:)) ?? "" }

    /// Returns the redacted URL and the part file of a request.
    package static func origin(of request: DownloadRequest) -> (url: String?, part: String?) {
        var part: String?
        if case .part(let path) = request.destination { part = path }
        return (request.sources.first?.redacted, part)
    }
}
