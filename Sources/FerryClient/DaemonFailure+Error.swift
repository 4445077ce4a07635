package import FerryAPI
package import FerryCore

extension DaemonFailure {
    /// The error for apps and users; `socket` is the path of the daemon's socket.
    package func error(socket: String) -> DownloadError {
        switch self {
        case .refused(let error): error
        case .unreachable(_, isAbsent: true):
            DownloadError(.daemonUnavailable, ErrorPhrase(.daemonAbsent), recovery: .transient(retryAfter: nil))
        case .unreachable(let reason, isAbsent: false):
            DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonSilent, socket), underlying: reason,
                recovery: .transient(retryAfter: nil))
        case .otherVersion(let what):
            DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonOtherVersion, what), suggestion: ErrorPhrase(.updateFerry),
                recovery: .needsUser)
        case .unreadable(let what):
            DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonUnreadable, what), suggestion: ErrorPhrase(.updateFerry),
                recovery: .needsUser)
        }
    }
}
