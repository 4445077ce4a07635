/// A state without its details, with the reason of a wait; what is counted, filtered and written in a column.
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

    /// Whether it has ended: as ``DownloadState/isFinal``.
    package var isFinal: Bool { Self.final.contains(self) }

    /// Whether it is at its end for good: nothing of it can be gone on with, and its secrets are not needed any more.
    package var isOver: Bool { self == .completed || self == .cancelled }

    package static let final: Set<StateKind> = [.failed, .completed, .cancelled]
    package static let waiting: Set<StateKind> = [
        .waitingForSlot, .waitingForNetwork, .waitingToRetry, .waitingForDiskSpace, .waitingForFreshLink,
        .waitingForCredentials, .waitingToStart,
    ]
}
