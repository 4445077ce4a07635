package import FerryAPI
package import FerryCore

/// What follows the daemon's events; see ``DaemonLink/follow(_:)``.
package protocol EventFollower: Sendable {
    /// Opens the event stream; with `mayStart`, the daemon may be started for it.
    func open(mayStart: Bool) async throws(DownloadError) -> EventReader
    /// Applies an event; those of one stream in order. Throws if the stream must be opened again.
    func take(_ sent: ServerSentEvent) async throws(DaemonFailure)
    /// Called when the stream has ended, or with the failure when it could not be opened. Returns whether to open it
    /// again.
    func isToReopen(after failure: DownloadError?) -> Bool
    /// Whether the daemon is needed now, so that it may be started although it was stopped on purpose.
    var needsDaemon: Bool { get }
}
