package import Ferry

/// All that `ferry get` is going to do, checked.
package struct GetPlan: Sendable {
    /// One thing to fetch.
    package enum Item: Sendable, Hashable {
        case request(DownloadRequest)
        /// Every part file in this directory; the request is what each of them is asked for with.
        case parts(directory: String, DownloadRequest)

        /// Who asks; see ``DownloadRequest/credentials``.
        package var credentials: Credentials? {
            get {
                switch self {
                case .request(let request), .parts(_, let request): request.credentials
                }
            }
            set {
                switch self {
                case .request(var request):
                    request.credentials = newValue
                    self = .request(request)
                case .parts(let directory, var request):
                    request.credentials = newValue
                    self = .parts(directory: directory, request)
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
