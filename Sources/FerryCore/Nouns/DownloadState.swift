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
    /// It holds no connection; the reason says what it waits for.
    case waiting(WaitReason)
    /// It has a slot: it asks, fetches and writes.
    case downloading
    /// Everything is there, and is read to compare its digest.
    case verifying
    /// Stopped on request; what is there is kept.
    case paused
    /// It cannot go on by itself; what is there is kept.
    case failed(DownloadError)
    /// The file has its final name; the proof says how it is known to be of one piece.
    case completed(Proof)
    /// Ended on request; part file and journal are gone.
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
