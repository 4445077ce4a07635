public import struct Foundation.Date

/// Why a download waits.
public enum WaitReason: Sendable, Hashable {
    /// Others run; its turn comes.
    case slot
    /// No network, or none that its rule allows.
    case network
    /// A failure that passes: the next attempt starts at this time.
    case retry(at: Date)
    /// Not enough free space on the disk.
    case diskSpace
    /// The link no longer works; a new URL for the same file lets it go on.
    case freshLink
    /// The server asks who is there.
    case credentials
    /// It was asked to start later.
    case notBefore(Date)
}

/// Where a download stands.
public enum DownloadState: Sendable, Hashable {
    case waiting(WaitReason)
    case downloading
    case verifying
    case paused
    case failed(DownloadError)
    case completed(Proof)
    case cancelled

    /// Whether the download has ended and holds no connection, slot or time-out.
    public var isFinal: Bool {
        switch self {
        case .failed, .completed, .cancelled: true
        case .waiting, .downloading, .verifying, .paused: false
        }
    }
}

/// What can be done with a download.
public enum DownloadAction: String, Sendable, Hashable, Codable, CaseIterable {
    case resume, pause, cancel, change, restart, remove
}

extension DownloadState {
    /// What may be done in this state; every other call changes nothing and says so.
    public var actions: Set<DownloadAction> {
        switch self {
        case .waiting: [.resume, .pause, .cancel, .change, .remove]
        case .downloading: [.pause, .cancel, .change, .remove]
        case .verifying: [.pause, .cancel, .remove]
        case .paused, .failed: [.resume, .cancel, .change, .remove]
        case .completed, .cancelled: [.restart, .remove]
        }
    }
}
