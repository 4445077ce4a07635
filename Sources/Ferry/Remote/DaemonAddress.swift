import FerryCore
import Foundation

/// The session of a background manager, and how to reach the daemon.
struct DaemonAddress: Sendable, Hashable {
    /// The session.
    var identifier: String
    /// The default directory for downloads, absolute; `nil` for the one the daemon knows, initially the user's
    /// Downloads.
    var directory: String?
    /// The daemon's program, absolute; `nil` to search for it.
    var binary: String?
    /// The command that the daemon runs when events are pending and no process of the session is connected; `nil`
    /// keeps the previous one, empty means none.
    var launchCommand: [String]?
    /// The daemon's socket; `nil` for the default path.
    var socket: String?
    /// How long calls wait for a lost daemon.
    var patience: Duration = .seconds(30)
}
