package import FerryCore
package import HTTPTypes

/// The credentials and secret headers of a command, and the servers that receive them. Items on other servers are
/// downloaded without them, including entries that were added to a list after it was checked.
///
/// A planned request has no secrets of the command: only this type adds them. `make lint` refuses assignments to
/// `credentials`, `secretsOrigin` and `cookies` in other files of the program unless a comment says why.
package struct SecretGrant: Sendable {
    /// Whether the command or a list entry sets the route of a download to its server.
    package enum Route: Sendable, Hashable {
        case ofCommand
        /// The list entry sets a proxy or disables certificate verification, so the author of the list may be able to read
        /// what is sent to any server.
        case ofEntry
    }

    var servers: Set<Origin>
    /// The server of part files whose URLs are known only from their journals; `nil` if these get no secrets.
    var partServer: Origin?
    var credentials: Credentials?
    /// The secret headers of the command.
    var headers: HTTPFields

    package init(
        servers: Set<Origin>, partServer: Origin? = nil, credentials: Credentials? = nil, headers: HTTPFields
    ) {
        self.servers = servers
        self.partServer = partServer
        self.credentials = credentials
        self.headers = headers
    }

    package func apply(to item: GetPlan.Item, over route: Route = .ofCommand) -> GetPlan.Item {
        guard route == .ofCommand else { return item }
        return switch item {
        case .request(let request): .request(applied(to: request))
        case .parts(let directory, let request): .parts(directory: directory, applied(to: request))
        case .unusable: item
        }
    }

    /// Whether the item's server receives no secrets.
    package func leavesOut(_ item: GetPlan.Item) -> Bool {
        guard let request = item.request else { return false }
        return !isFor(request)
    }

    private func isFor(_ request: DownloadRequest) -> Bool {
        request.sources.isEmpty ? partServer != nil : SecretScope.home(of: request).map(servers.contains) ?? false
    }

    private func applied(to request: DownloadRequest) -> DownloadRequest {
        guard isFor(request) else { return request }
        // An entry's own values take precedence over the command's: a header field over the field of the same name, and
        // credentials and `Authorization` over each other.
        let own = request
        var request = request
        if own.credentials == nil, !own.headers.contains(.authorization) { request.credentials = credentials }
        if own.sources.isEmpty { request.secretsOrigin = partServer }
        var added = HTTPFields()
        for field in headers where !own.headers.contains(field.name) {
            if field.name != .authorization || own.credentials == nil { added.append(field) }
        }
        request.headers = added + own.headers
        return request
    }

    /// Returns the URL with its netrc credentials as user info, so that they are not sent to mirrors on other hosts.
    static func with(_ netrc: Netrc?, _ url: DownloadURL) -> DownloadURL {
        guard url.credentials == nil, let found = netrc?.credentials(for: url.host) else { return url }
        let userInfo = [found.user, found.password].map(PercentEncoding.encodeAll).joined(separator: ":") + "@"
        let start = url.scheme.rawValue + "://"
        let text = start + userInfo + url.text.dropFirst(start.count)
        return (try? DownloadURL(text)) ?? url
    }

    /// Returns the request from which the requests for all files of a set are derived, with secrets for `server`, which the
    /// user names. If `server` is `nil`, `SetSync` chooses the server of the set's source.
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

/// The servers that lists, documents and journals name. Such a server is authorized only if it is the only one.
package struct ListedServers: Sendable, Hashable {
    private var servers: Set<Origin> = []

    /// - Parameter origins: The servers of each item, as far as they are known.
    package init(_ origins: some Sequence<Set<Origin>>) {
        for named in origins {
            servers.formUnion(named)
            if servers.count > Self.most { break }
        }
    }

    /// The number of servers beyond which counting stops.
    private static let most = 1 << 10

    package var isEmpty: Bool { servers.isEmpty }

    /// The only server; `nil` for none or several.
    package var only: Origin? { servers.count == 1 ? servers.first : nil }

    /// The first servers by name, for a message.
    package var shown: String {
        let names = servers.map(\.description).sorted()
        return names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    }
}
