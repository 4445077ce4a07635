import FerryCore
import Foundation

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

    /// Upper bound of `maxConnections`; more than any host is sent at once.
    private static let mostConnections = 1000
}
