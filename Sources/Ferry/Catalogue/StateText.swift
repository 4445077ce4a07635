/// A state as it stands in the columns `state` and `details`.
struct StateText {
    let kind: StateKind
    /// JSON of the whole state, where the kind does not say all of it.
    let details: String?

    init(_ state: DownloadState) throws {
        kind = StateKind(state)
        details = kind.plainState == nil ? try StoredText.text(state) : nil
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
    /// The state that this kind says all of; `nil` where it has details.
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
