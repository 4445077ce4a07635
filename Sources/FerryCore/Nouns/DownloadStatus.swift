/// A complete snapshot of one download.
public struct DownloadStatus: Sendable, Hashable {
    /// The download's identifier.
    public var id: DownloadID
    /// The state of the download.
    public var state: DownloadState
    /// The reason for a pause that the user did not request; `nil` in all other cases.
    public var pauseReason: PauseReason?
    /// The error after which the download waits for its user or for disk space; `nil` in all other cases.
    public var waitError: DownloadError?
    /// The progress of the download.
    public var progress: DownloadProgress
    /// The name that the file has or will have; before the server has responded, the one that the URL suggests.
    public var name: String
    /// The path of the finished file; `nil` until its name has been chosen.
    public var path: String?

    package init(
        id: DownloadID, state: DownloadState, progress: DownloadProgress = DownloadProgress(), name: String,
        path: String? = nil, pauseReason: PauseReason? = nil, waitError: DownloadError? = nil
    ) {
        self.id = id
        self.state = state
        self.progress = progress
        self.name = name
        self.path = path
        self.pauseReason = pauseReason
        self.waitError = waitError
    }

    /// The actions that are valid now.
    public var actions: Set<DownloadAction> { state.actions }
}
