package import FerryCore

/// The downloads that an action of a manager applies to.
package enum ListSelection: Sendable {
    case one(LiveDownload)
    /// All downloads whose state permits the action.
    case all
}

/// A user's action on listed downloads.
package enum ListAction: Sendable {
    /// With `stopsRetries`, the automatic retries of failed downloads are cancelled too.
    case pause(stopsRetries: Bool = false)
    /// Several downloads are resumed in the order of the selection. With `triesServers`, requests are sent at once to servers that
    /// have requested a delay or are down, and earlier failures of these servers no longer count.
    case resume(triesServers: Bool = true)
    case cancel
    case restart
    /// With `ifIn`, only downloads in these states are removed; others throw `wrongState`.
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

    /// The states of the downloads that the action applies to if no downloads are named.
    var kinds: Set<StateKind> {
        switch self {
        case .pause: StateKind.waiting.union([.downloading, .verifying, .failed])
        // A download that waits for the user may continue when the cause is gone, such as a hotel's sign-in page. Downloads that
        // wait for a server are found in the queue. An attempt cannot end a wait for a slot, a network or a start date.
        case .resume:
            [
                .paused, .failed, .waitingToRetry, .waitingForDiskSpace, .waitingForFreshLink, .waitingForCredentials,
            ]
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
        case .remove(_, let kinds): kinds?.contains(kind) ?? true
        // A new link, credentials or another start date may end the wait.
        case .change(let change):
            !change.members.contains(.notBefore)
                && ![.waitingForFreshLink, .waitingForCredentials, .verifying].contains(kind) && !kind.isOver
        }
    }
}

/// The result of an action on several downloads. Each download is in one of the members.
package struct ListActionResult: Sendable {
    package var changed: Set<DownloadID> = []
    /// The downloads that were already in the state that the action leads to.
    package var unchanged: Set<DownloadID> = []
    package var failures: [DownloadID: DownloadError] = [:]

    package init() {}
}
