import AsyncHTTPClient
package import FerryCore
import Foundation
import NIOCore

/// Why a request to the daemon returned no usable response.
package enum DaemonFailure: Error, Sendable, Hashable {
    /// The connection failed or was lost; whether the request was executed is unknown. `isAbsent`: nothing listens at
    /// the socket, so it was not.
    case unreachable(String, isAbsent: Bool = false)
    /// The daemon responded with an error.
    case refused(DownloadError)
    /// The daemon has another version of the API.
    case otherVersion(String)
    /// The response cannot be decoded, perhaps because the daemon is newer.
    case unreadable(String)
}

extension DaemonFailure {
    /// Wraps an error of the connection.
    static func unreachable(by error: any Error) -> DaemonFailure {
        switch error {
        case let error as IOError:
            .unreachable(
                String(cString: strerror(error.errnoCode)),
                isAbsent: [ENOENT, ECONNREFUSED].contains(error.errnoCode))
        case let error as HTTPClientError: .unreachable(error.shortDescription)
        default: .unreachable("\(error)")
        }
    }
}
