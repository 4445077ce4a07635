package import FerryAPI
import FerryCore

extension DaemonFailure {
    /// Whether a retry would fail in the same way: the daemon refuses the request or has another version.
    ///
    /// A daemon that does not respond, or is shutting down, may become available again.
    package var isLasting: Bool {
        switch self {
        case .refused(let error):
            if case .transient = error.recovery { false } else { error.code != .shutDown }
        case .otherVersion: true
        case .unreachable, .unreadable: false
        }
    }
}
