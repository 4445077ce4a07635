import FerryCore
import FerryEngine
import GRDB

extension DownloadError {
    static var storeIsClosed: DownloadError {
        DownloadError(.shutDown, ErrorPhrase(.listClosed), recovery: .permanent)
    }

    static func isListed(_ id: DownloadID) -> DownloadError {
        DownloadError(.duplicate, ErrorPhrase(.listedIdentifier, id.rawValue.debugDescription))
    }

    static func isBehind(_ path: String) -> DownloadError {
        DownloadError(
            .catalogue, ErrorPhrase(.catalogueWriting, path), underlying: "earlier changes could not be written yet",
            recovery: .transient(retryAfter: nil))
    }

    /// An error that occurred while the catalogue at `path` was used.
    init(_ error: any Error, catalogue path: String, doing what: ErrorPhrase.Key) {
        switch error {
        case let error as DownloadError: self = error
        case let error as FileError:
            self.init(
                error.kind == .noSpace ? .diskFull : .catalogue, ErrorPhrase(what, path),
                underlying: error.message, recovery: error.kind == .noSpace ? .transient(retryAfter: nil) : .permanent)
        case let error as DatabaseError:
            let isFull = error.resultCode == .SQLITE_FULL
            self.init(
                isFull ? .diskFull : .catalogue, ErrorPhrase(what, path),
                underlying: "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no reason given")",
                recovery: error.isOfTheDisk ? .transient(retryAfter: nil) : .permanent)
        default:
            self.init(.catalogue, ErrorPhrase(what, path), underlying: "\(error)")
        }
    }
}

extension DatabaseError {
    /// Whether the database is damaged and must be replaced.
    var isOfDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// Whether the data is valid and the same write may succeed later.
    var isOfTheDisk: Bool {
        switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_NOMEM, .SQLITE_CANTOPEN, .SQLITE_READONLY: true
        default: false
        }
    }
}
