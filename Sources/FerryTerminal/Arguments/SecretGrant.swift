import FerryCore
import HTTPTypes

/// The credentials and secret headers of a command, and the servers that they are for. All other items are downloaded
/// without them, also those that a list got after it was checked.
///
/// A planned request has no secrets of the command: this alone adds them, and `make lint` refuses other places.
struct SecretGrant: Sendable {
    var servers: Set<Origin>
    /// The server of part files whose URLs only their journals name; `nil` if these get no secrets.
    var partServer: Origin?
    var credentials: Credentials?
    /// The secret headers of the command.
    var headers: HTTPFields

    func apply(to item: GetPlan.Item) -> GetPlan.Item {
        switch item {
        case .request(let request): .request(applied(to: request))
        case .parts(let directory, let request): .parts(directory: directory, applied(to: request))
        case .unusable: item
        }
    }

    /// Whether the item is of a server that gets nothing.
    func leavesOut(_ item: GetPlan.Item) -> Bool {
        guard let request = item.request else { return false }
        return !isFor(request)
    }

    private func isFor(_ request: DownloadRequest) -> Bool {
        request.sources.isEmpty ? partServer != nil : SecretScope.home(of: request).map(servers.contains) ?? false
    }

    private func applied(to request: DownloadRequest) -> DownloadRequest {
        guard isFor(request) else { return request }
        var request = request
        // What an entry of a list has of its own outranks what the command has for all.
        request.credentials = request.credentials ?? credentials
        if request.sources.isEmpty { request.secretsOrigin = partServer }
        request.headers = headers + request.headers
        return request
    }

    /// Returns the request that all files of a set are made from, with secrets for the server that the user names; `nil`
    /// for that of the set's source, which `DirectorySync` decides.
    static func ofSet(
        _ request: DownloadRequest, credentials: Credentials?, headers: HTTPFields, server: Origin?
    ) -> DownloadRequest {
        var request = request
        request.secretsOrigin = server
        request.credentials = credentials
        request.headers = headers + request.headers
        return request
    }
}
