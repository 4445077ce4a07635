package import FerryCore

/// An action on many downloads.
package enum BulkAction: Sendable {
    /// With `stopsRetries`, the automatic retries of failed downloads are cancelled too.
    case pause(stopsRetries: Bool = false)
    /// In the order of the downloads.
    case resume
    case cancel
    case restart
    /// With `ifIn`, only downloads in these states.
    case remove(deletingFiles: Bool, ifIn: Set<StateKind>? = nil)
    case change(RequestChange)

    var single: DownloadAction {
        switch self {
        case .pause: .pause
        case .resume: .resume
        case .cancel: .cancel
        case .restart: .restart
        case .remove: .remove
        case .change: .change
        }
    }

    /// The states of the downloads that the action is about if it names none.
    var kinds: Set<StateKind> {
        switch self {
        case .pause: StateKind.waiting.union([.downloading, .verifying, .failed])
        case .resume: [.paused, .failed]
        case .cancel: Set(StateKind.allCases.filter { !$0.isOver })
        case .change: StateKind.waiting.union([.downloading, .paused, .failed])
        case .restart: [.completed, .cancelled]
        case .remove(_, let kinds): kinds ?? Set(StateKind.allCases)
        }
    }

    /// Whether a download in this state, without a run and without a handle, is changed together with others, in one
    /// transaction.
    func isBatched(_ kind: StateKind) -> Bool {
        switch self {
        case .pause: !kind.isFinal && kind != .paused
        case .resume: kind == .paused || kind == .failed
        case .cancel: !kind.isOver
        case .restart: false
        case .remove: true
        // A new link, credentials or another start date may end the wait.
        case .change(let change):
            !change.members.contains(.notBefore)
                && ![.waitingForFreshLink, .waitingForCredentials, .verifying].contains(kind) && !kind.isOver
        }
    }
}

/// The result of an action on many downloads: each of them is in one of the members.
package struct BulkResult: Sendable {
    package var changed: Set<DownloadID> = []
    /// The downloads that were already as the action leaves them.
    package var unchanged: Set<DownloadID> = []
    package var failures: [DownloadID: DownloadError] = [:]

    package init() {}
}
