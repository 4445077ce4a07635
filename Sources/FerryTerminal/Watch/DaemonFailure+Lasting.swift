package import FerryAPI
import FerryCore

extension DaemonFailure {
    /// Whether the same request would bring the same again: the daemon refuses it, or is of another version.
    ///
    /// One that does not answer, or is just leaving, may come back.
    package var isLasting: Bool {
        switch self {
        case .refused(let error):
            if case .transient = error.recovery { false } else { error.code != .shutDown }
        case .otherVersion: true
        case .unreachable, .unreadable: false
        }
    }
}
