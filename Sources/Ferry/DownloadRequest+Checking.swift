import FerryCore
import FerryEngine
import Foundation

extension DownloadRequest {
    /// The request with absolute paths and sane limits. Throws what can be known before a byte is fetched.
    ///
    /// `writable` holds the directories that were looked at already; `nil` for not looking at all.
    func checked(alreadyWritable writable: inout Set<String>?) throws(DownloadError) -> DownloadRequest {
        var request = self
        request.maxConnections = max(1, maxConnections)
        switch destination {
        case .file(let path): request.destination = .file(DownloadManager.absolute(path))
        case .directory(let path, let name):
            request.destination = .directory(DownloadManager.absolute(path), name: name)
        case .part(let path): request.destination = .part(DownloadManager.absolute(path))
        case .stream: break
        }
        if sources.isEmpty {
            guard case .part = destination else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
        }
        if id?.rawValue.isEmpty == true { throw DownloadError(.invalidRequest, ErrorPhrase(.emptyIdentifier)) }
        try request.checkTexts()
        _ = try request.destination.resolved()
        guard writable != nil else { return request }
        if case .directory(let path, _) = request.destination {
            guard writable?.insert(path).inserted == true else { return request }
        }
        try PartFiles.checkWritable(request.destination)
        return request
    }

    func checked(alreadyWritable writable: inout Set<String>) throws(DownloadError) -> DownloadRequest {
        var known: Set<String>? = writable
        defer { writable = known ?? [] }
        return try checked(alreadyWritable: &known)
    }
}
