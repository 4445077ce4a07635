/// A state without its details, but with the reason of a wait; used for counts, filters and a column.
package enum StateKind: String, Sendable, Hashable, Codable, CaseIterable {
    case waitingForSlot = "waiting.slot"
    case waitingForNetwork = "waiting.network"
    case waitingToRetry = "waiting.retry"
    case waitingForDiskSpace = "waiting.diskSpace"
    case waitingForFreshLink = "waiting.freshLink"
    case waitingForCredentials = "waiting.credentials"
    case waitingToStart = "waiting.notBefore"
    case downloading
    case verifying
    case paused
    case failed
    case completed
    case cancelled

    package init(_ state: DownloadState) {
        self =
            switch state {
            case .waiting(.slot): .waitingForSlot
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

    /// As ``DownloadState/isFinal``.
    package var isFinal: Bool { Self.final.contains(self) }

    /// Whether the end is permanent: nothing can be resumed, and the secrets are not needed any more.
    package var isOver: Bool { self == .completed || self == .cancelled }

    package static let final: Set<StateKind> = [.failed, .completed, .cancelled]
    package static let waiting: Set<StateKind> = [
        .waitingForSlot, .waitingForNetwork, .waitingToRetry, .waitingForDiskSpace, .waitingForFreshLink,
        .waitingForCredentials, .waitingToStart,
    ]
}
