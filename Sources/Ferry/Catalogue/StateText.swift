/// A state in the form of the columns `state` and `details`.
struct StateText {
    let kind: StateKind
    /// JSON of the whole state, if the kind does not determine it; for a paused download, of the pause reason.
    let details: String?

    init(_ state: DownloadState, _ pauseReason: PauseReason? = nil) throws {
        kind = StateKind(state)
        if kind.plainState == nil {
            details = try StoredText.text(state)
        } else {
            details = kind == .paused ? try pauseReason.map(StoredText.text) : nil
        }
    }

    /// `nil` if there is no reason, or one of a newer version.
    var pauseReason: PauseReason? {
        guard kind == .paused, let details else { return nil }
        return try? StoredText.value(PauseReason.self, details)
    }

    init(kind: StateKind, details: String?) {
        self.kind = kind
        self.details = details
    }

    func state() throws -> DownloadState {
        if let state = kind.plainState { return state }
        return try StoredText.value(DownloadState.self, details ?? "null")
    }
}

extension StateKind {
    /// The state, if the kind determines it; `nil` if it has details.
    fileprivate var plainState: DownloadState? {
        switch self {
        case .waitingForSlot: .waiting(.slot)
        case .waitingForNetwork: .waiting(.network)
        case .waitingForDiskSpace: .waiting(.diskSpace)
        case .waitingForFreshLink: .waiting(.freshLink)
        case .waitingForCredentials: .waiting(.credentials)
        case .downloading: .downloading
        case .verifying: .verifying
        case .paused: .paused
        case .cancelled: .cancelled
        case .waitingToRetry, .waitingToStart, .failed, .completed: nil
        }
    }
}
