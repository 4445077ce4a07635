import AsyncHTTPClient
package import FerryCore
import Foundation
import NIOCore

/// Why a request to the daemon brought no answer that can be used.
package enum DaemonFailure: Error, Sendable, Hashable {
    /// Nobody listens, or the connection broke: whether the request was carried out is not known.
    case unreachable(String)
    /// The daemon says no.
    case refused(DownloadError)
    /// It speaks another version of the API.
    case otherVersion(String)
    /// It says something that cannot be read: perhaps of a newer version.
    case unreadable(String)
}

extension DaemonFailure {
    /// The connection could not be made, or broke, by this error.
    static func unreachable(by error: any Error) -> DaemonFailure {
        switch error {
        case let error as IOError: .unreachable(String(cString: strerror(error.errnoCode)))
        case let error as HTTPClientError: .unreachable(error.shortDescription)
        default: .unreachable("\(error)")
        }
    }
}
