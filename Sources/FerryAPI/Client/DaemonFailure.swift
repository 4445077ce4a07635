package import FerryCore

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
