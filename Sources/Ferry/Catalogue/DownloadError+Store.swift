import FerryCore
import FerryEngine

extension DownloadError {
    static var storeIsClosed: DownloadError {
        DownloadError(.shutDown, ErrorPhrase(.listClosed), recovery: .permanent)
    }

    static func isListed(_ id: DownloadID) -> DownloadError {
        DownloadError(.duplicate, ErrorPhrase(.listedIdentifier, id.rawValue.debugDescription))
    }

    /// An error that occurred while the catalogue at `path` was used.
    init(_ error: any Error, catalogue path: String, doing what: ErrorPhrase.Key) {
        switch error {
        case let error as DownloadError: self = error
        case let error as FileError:
            self.init(
                error.kind == .noSpace ? .diskFull : .catalogue, ErrorPhrase(what, path),
                suggestion: error.kind == .noSpace ? ErrorPhrase(.makeRoom) : nil, underlying: error.message,
                recovery: error.kind == .noSpace ? .transient(retryAfter: nil) : .permanent)
        case let error as DatabaseError:
            self.init(
                error.isOfSpace ? .diskFull : .catalogue, ErrorPhrase(what, path),
                suggestion: error.isOfSpace ? ErrorPhrase(.makeRoom) : nil, underlying: "\(error)",
                recovery: error.isOfTheDisk ? .transient(retryAfter: nil) : .permanent)
        default:
            self.init(.catalogue, ErrorPhrase(what, path), underlying: "\(error)")
        }
    }
}
