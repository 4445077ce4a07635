package import Ferry

/// The validated configuration and requests of one `ferry get`.
package struct GetPlan: Sendable {
    /// One argument or list entry to download.
    package enum Item: Sendable, Hashable {
        case request(DownloadRequest)
        /// All part files in a directory, each with a copy of this request.
        case parts(directory: String, DownloadRequest)
        /// A line of a list that cannot be used, with the list's name and the line number. Other lines are not
        /// affected.
        case unusable(String)

        /// The item's request; `nil` for an unusable line.
        package var request: DownloadRequest? {
            switch self {
            case .request(let request), .parts(_, let request): request
            case .unusable: nil
            }
        }
    }

    package var configuration: DownloadManager.Configuration
    package var items: PlannedItems
    package var output: OutputOptions
}
