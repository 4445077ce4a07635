public import struct Foundation.Date

/// Why a download waits.
public enum WaitReason: Sendable, Hashable {
    /// All slots are in use.
    case slot
    /// No network is available, or none that the download's network rule permits.
    case network
    /// A transient failure; the next attempt starts at this time.
    case retry(at: Date)
    /// Not enough free disk space.
    case diskSpace
    /// The link has expired. The download can resume with a new URL for the same file.
    case freshLink
    /// Waiting for credentials.
    case credentials
    /// The earliest start time has not come.
    case notBefore(Date)
}

/// The state of a download.
public enum DownloadState: Sendable, Hashable {
    /// Waiting without a connection, for the given reason.
    case waiting(WaitReason)
    /// Running in a slot: requesting, receiving and writing.
    case downloading
    /// All bytes are written; their digest is being computed.
    case verifying
    /// Paused on request; partial content is kept.
    case paused
    /// Stopped by an error that needs intervention; partial content is kept.
    case failed(DownloadError)
    /// The file has its final name; the proof is the strength of its integrity check.
    case completed(Proof)
    /// Cancelled; part file and journal are removed, unless they were kept for resume data.
    case cancelled

    /// Whether the download has ended and holds no connection, slot or timer.
    public var isFinal: Bool {
        switch self {
        case .failed, .completed, .cancelled: true
        case .waiting, .downloading, .verifying, .paused: false
        }
    }
}

/// An action on a download.
public enum DownloadAction: String, Sendable, Hashable, Codable, CaseIterable {
    case resume, pause, cancel, change, restart, remove
}

extension DownloadState {
    /// The actions that are valid in this state; any other call changes nothing and reports so.
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
