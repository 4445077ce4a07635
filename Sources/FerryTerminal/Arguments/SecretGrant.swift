import FerryCore
import HTTPTypes

/// The credentials and secret headers of a command, and the servers that they are for. All other items are downloaded
/// without them, also those that a list got after it was checked.
///
/// A planned request has no secrets of the command: this alone adds them. `make lint` refuses assignments to
/// `credentials`, `secretsOrigin` and `cookies` in other files of the program that do not say why.
struct SecretGrant: Sendable {
    /// Who says how a download reaches its server.
    enum Route: Sendable, Hashable {
        case ofCommand
        /// The entry of a list, by a proxy or without a check of the certificate: whoever wrote the list may read what is
        /// sent, whatever the server.
        case ofEntry
    }

    var servers: Set<Origin>
    /// The server of part files whose URLs only their journals name; `nil` if these get no secrets.
    var partServer: Origin?
    var credentials: Credentials?
    /// The secret headers of the command.
    var headers: HTTPFields

    func apply(to item: GetPlan.Item, over route: Route = .ofCommand) -> GetPlan.Item {
        guard route == .ofCommand else { return item }
        return switch item {
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
        // What an entry of a list has of its own outranks what the command has for all: a field the command's of the same
        // name, credentials and `Authorization` each other.
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

    /// Returns the URL with its credentials of a netrc file as user info, so that they are not sent to mirrors on other hosts.
    static func with(_ netrc: Netrc?, _ url: DownloadURL) -> DownloadURL {
        guard url.credentials == nil, let found = netrc?.credentials(for: url.host) else { return url }
        let userInfo = [found.user, found.password].map(PercentEncoding.encodeAll).joined(separator: ":") + "@"
        let start = url.scheme.rawValue + "://"
        let text = start + userInfo + url.text.dropFirst(start.count)
        return (try? DownloadURL(text)) ?? url
    }

    /// Returns the request that all files of a set are made from, with secrets for the server that the user names; `nil`
    /// for that of the set's source, which `SetSync` decides.
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

/// The servers that lists, documents and journals lead to. These authorize a server only where it is the only one.
struct ListedServers: Sendable, Hashable {
    private var servers: Set<Origin> = []

    /// - Parameter origins: The servers of each item, as far as they are known.
    init(_ origins: some Sequence<Set<Origin>>) {
        for named in origins {
            servers.formUnion(named)
            if servers.count > Self.most { break }
        }
    }

    /// More than these are not counted.
    private static let most = 1 << 10

    var isEmpty: Bool { servers.isEmpty }

    /// The only server; `nil` for none or several.
    var only: Origin? { servers.count == 1 ? servers.first : nil }

    /// The first servers by name, for a message.
    var shown: String {
        let names = servers.map(\.description).sorted()
        return names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    }
}
