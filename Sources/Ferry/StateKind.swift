public import FerryCore

/// The state of a download without its details, but with the reason for a wait; for counts and filters.
///
/// The raw values are the names in the daemon's API and in the label `state` of the metrics.
public enum StateKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Corresponds to ``WaitReason/slot`` and ``WaitReason/server(since:until:)``.
    case waitingForSlot = "waiting.slot"
    /// Corresponds to ``WaitReason/network``.
    case waitingForNetwork = "waiting.network"
    /// Corresponds to ``WaitReason/retry(at:)``.
    case waitingToRetry = "waiting.retry"
    /// Corresponds to ``WaitReason/diskSpace``.
    case waitingForDiskSpace = "waiting.diskSpace"
    /// Corresponds to ``WaitReason/freshLink``.
    case waitingForFreshLink = "waiting.freshLink"
    /// Corresponds to ``WaitReason/credentials``.
    case waitingForCredentials = "waiting.credentials"
    /// Corresponds to ``WaitReason/notBefore(_:)``.
    case waitingToStart = "waiting.notBefore"
    case downloading
    case verifying
    case paused
    case failed
    case completed
    case cancelled

    /// The kind of a state.
    public init(_ state: DownloadState) {
        self =
            switch state {
            // The state of a server is not stored in a row; only the queue knows it.
            case .waiting(.slot), .waiting(.server): .waitingForSlot
            case .waiting(.network): .waitingForNetwork
            case .waiting(.retry): .waitingToRetry
            case .waiting(.diskSpace): .waitingForDiskSpace
            case .waiting(.freshLink): .waitingForFreshLink
            case .waiting(.credentials): .waitingForCredentials
            case .waiting(.notBefore): .waitingToStart
            case .downloading: .downloading
            case .verifying: .verifying
            case .paused: .paused
            case .failed: .failed
            case .completed: .completed
            case .cancelled: .cancelled
            }
    }

    /// Whether the state is final; see ``DownloadState/isFinal``.
    package var isFinal: Bool { Self.final.contains(self) }

    /// Whether the end is permanent: the download cannot be resumed, and its secrets are no longer needed.
    package var isOver: Bool { self == .completed || self == .cancelled }

    package static let final: Set<StateKind> = [.failed, .completed, .cancelled]
    package static let waiting: Set<StateKind> = [
        .waitingForSlot, .waitingForNetwork, .waitingToRetry, .waitingForDiskSpace, .waitingForFreshLink,
        .waitingForCredentials, .waitingToStart,
    ]
}
