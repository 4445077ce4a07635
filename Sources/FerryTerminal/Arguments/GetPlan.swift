package import Ferry

/// All that `ferry get` is going to do, checked.
package struct GetPlan: Sendable {
    /// One thing to fetch.
    package enum Item: Sendable, Hashable {
        case request(DownloadRequest)
        /// Every part file in this directory; the request is what each of them is asked for with.
        case parts(directory: String, DownloadRequest)

        /// What it is asked for with.
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
    /// Lines of lists that cannot be used, each with the list's name and its number; the rest goes on.
    package var badLines: [String]
}
