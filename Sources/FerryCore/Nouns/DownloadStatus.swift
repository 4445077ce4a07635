#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.Date
#else
    public import struct Foundation.Date
#endif

/// A complete snapshot of one download.
public struct DownloadStatus: Sendable, Hashable {
    /// The download's identifier.
    public var id: DownloadID
    /// The state of the download.
    public var state: DownloadState
    /// The reason for a pause that the user did not request; `nil` in all other cases.
    public var pauseReason: PauseReason?
    /// The error for which the download waits for its user, for disk space, for its next attempt, for its server or for the
    /// network; `nil` while it waits for a slot or its start time, and in all other states.
    public var waitError: DownloadError?
    /// The time at which a failed download is retried automatically (`retriesFailedAfter`); in the past if the download only
    /// waits for its turn. `nil` if the download is not retried automatically, and in all other states.
    public var retryAt: Date?
    /// The progress of the download.
    public var progress: DownloadProgress
    /// The name that the file has or will have; before the server has responded, the name that the URL suggests.
    public var name: String
    /// The path of the finished file; `nil` until its name has been chosen.
    public var path: String?

    /// Creates the status of a download, for previews and tests.
    public init(
        id: DownloadID, state: DownloadState, progress: DownloadProgress = DownloadProgress(), name: String,
        path: String? = nil, pauseReason: PauseReason? = nil, waitError: DownloadError? = nil, retryAt: Date? = nil
    ) {
        self.id = id
        self.state = state
        self.progress = progress
        self.name = name
        self.path = path
        self.pauseReason = pauseReason
        self.waitError = waitError
        self.retryAt = retryAt
    }

    /// The actions that are valid now.
    public var actions: Set<DownloadAction> { state.actions }
}

/// Encoded as `{"id", "progress", "name", "path"?, "pauseReason"?}` with the members of ``DownloadState``, with `error` if a
/// waiting download has one, and with `retryAt` if a failed download is retried automatically. An unknown pause reason is
/// ignored.
extension DownloadStatus: Codable {
    private enum CodingKeys: String, CodingKey { case id, progress, name, path, pauseReason, error, retryAt }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let state = try DownloadState(from: decoder)
        let isRetried =
            try state.kind == .failed && container.contains(.retryAt) && !container.decodeNil(forKey: .retryAt)
        self.init(
            id: DownloadID(rawValue: try container.decode(String.self, forKey: .id)),
            state: state,
            progress: try container.decode(DownloadProgress.self, forKey: .progress),
            name: try container.decode(String.self, forKey: .name),
            path: try container.decodeIfPresent(String.self, forKey: .path),
            pauseReason: try container.decodeIfPresent(String.self, forKey: .pauseReason)
                .flatMap(PauseReason.init(rawValue:)),
            waitError: state.kind == .waiting ? try container.decodeIfPresent(DownloadError.self, forKey: .error) : nil,
            retryAt: isRetried ? try container.decodeTime(forKey: .retryAt) : nil)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.rawValue, forKey: .id)
        try state.encode(to: encoder)
        try container.encode(progress, forKey: .progress)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(path, forKey: .path)
        try container.encodeIfPresent(pauseReason, forKey: .pauseReason)
        if state.kind == .waiting { try container.encodeIfPresent(waitError, forKey: .error) }
        if state.kind == .failed, let retryAt { try container.encode(time: retryAt, forKey: .retryAt) }
    }
}
