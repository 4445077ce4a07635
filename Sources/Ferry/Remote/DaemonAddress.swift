import FerryCore
import Foundation

/// What a background manager is told of its session, and of where the daemon is.
struct DaemonAddress: Sendable, Hashable {
    /// The session.
    var identifier: String
    /// Where its downloads go by default, absolute; `nil` for what the daemon knows, at first the user's Downloads.
    var directory: String?
    /// The daemon's program, absolute; `nil` to look for it.
    var binary: String?
    /// What the daemon starts when events wait and nobody is there; `nil` keeps what it knows, an empty one is none.
    var launchCommand: [String]?
    /// The daemon's socket; `nil` for the usual one.
    var socket: String?
    /// How long calls wait for a daemon that was lost.
    var patience: Duration = .seconds(30)
}
