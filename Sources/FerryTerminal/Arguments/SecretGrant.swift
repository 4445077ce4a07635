import Ferry
import FerryCore
import HTTPTypes

/// The credentials and secret headers of a command, and the servers that they are for. All other items are downloaded
/// without them, also those that a list got after it was checked.
struct SecretGrant: Sendable {
    var servers: Set<Origin>
    /// The server of part files whose URLs only their journals name; `nil` if these get no secrets.
    var partServer: Origin?
    var credentials: Credentials?
    /// The headers that all items of the command share.
    var headers: HTTPFields

    func apply(to item: GetPlan.Item) -> GetPlan.Item {
        switch item {
        case .request(let request): .request(applied(to: request))
        case .parts(let directory, let request): .parts(directory: directory, applied(to: request))
        case .unusable: item
        }
    }

    private func applied(to request: DownloadRequest) -> DownloadRequest {
        var request = request
        if request.sources.isEmpty ? partServer != nil : SecretScope.home(of: request).map(servers.contains) ?? false {
            request.credentials = credentials
            if request.sources.isEmpty { request.secretsOrigin = partServer }
        } else {
            // Secret headers of its own list entry remain.
            let all = request.headers
            request.headers = HTTPFields()
            for field in all where !field.name.isSecret || !headers.contains(field) { request.headers.append(field) }
        }
        return request
    }
}
