import FerryCore
import Foundation

extension DownloadRequest {
    /// The request with absolute paths and limits within bounds. Throws errors that can be detected without disk
    /// access.
    func checked() throws(DownloadError) -> DownloadRequest {
        var request = self
        request.maxConnections = min(max(1, maxConnections), Self.mostConnections)
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
        try request.checkSources()
        if id?.rawValue.isEmpty == true { throw DownloadError(.invalidRequest, ErrorPhrase(.emptyIdentifier)) }
        if id?.isOneLine == false { throw DownloadError(.invalidRequest, ErrorPhrase(.unusableIdentifier)) }
        try request.checkTexts()
        _ = try request.destination.resolved()
        return request
    }

    /// Upper bound of `maxConnections`; more than any host is sent at once.
    private static let mostConnections = 1000

    /// Throws if there are more sources than a journal stores.
    func checkSources() throws(DownloadError) {
        guard sources.count > Self.mostSources else { return }
        throw DownloadError(
            .invalidRequest, ErrorPhrase(.manySources, "\(sources.count)", "\(Self.mostSources)"), recovery: .needsUser)
    }
}
