package import Ferry

/// The validated configuration and requests of one `ferry get`.
package struct GetPlan: Sendable {
    /// One argument or list entry to download.
    package enum Item: Sendable, Hashable {
        case request(DownloadRequest)
        /// All part files in a directory, each with a copy of this request.
        case parts(directory: String, DownloadRequest)

        /// The item's request.
        package var request: DownloadRequest {
            get {
                switch self {
                case .request(let request), .parts(_, let request): request
                }
            }
            set {
                switch self {
                case .request: self = .request(newValue)
                case .parts(let directory, _): self = .parts(directory: directory, newValue)
                }
            }
        }
    }

    package var configuration: DownloadManager.Configuration
    package var items: [Item]
    package var output: OutputOptions
    /// Unusable lines of lists, with the list's name and the line number. Other lines are not affected.
    package var badLines: [String]
}
