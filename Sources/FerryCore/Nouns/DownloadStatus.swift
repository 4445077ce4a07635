/// A snapshot of one download, complete in itself.
public struct DownloadStatus: Sendable, Hashable {
    /// The download that this is the status of.
    public var id: DownloadID
    /// Where it stands.
    public var state: DownloadState
    /// Why it is paused, where nobody asked for that; `nil` in all other states.
    public var pauseReason: PauseReason?
    /// How far it is.
    public var progress: DownloadProgress
    /// The name that the file has or will have; until the server's answer, the one that the URL suggests.
    public var name: String
    /// Where the finished file is or will be; `nil` until its name is taken.
    public var path: String?

    public init(
        id: DownloadID, state: DownloadState, progress: DownloadProgress = DownloadProgress(), name: String,
        path: String? = nil, pauseReason: PauseReason? = nil
    ) {
        self.id = id
        self.state = state
        self.progress = progress
        self.name = name
        self.path = path
        self.pauseReason = pauseReason
    }

    /// What may be done now.
    public var actions: Set<DownloadAction> { state.actions }
}
