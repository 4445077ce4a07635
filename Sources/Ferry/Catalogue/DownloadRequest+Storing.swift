import FerryCore
import HTTPTypes

extension DownloadRequest {
    /// The host under which the list indexes the request: the host of the proxy, or of the first source if there is no proxy.
    var indexedHost: String { connection.proxy?.server?.host ?? sources.first?.host ?? "" }

    /// The request as stored in a row: without secrets, and without the properties that have columns of their own.
    package var stored: DownloadRequest {
        var stored = withoutSecrets
        stored.id = nil
        stored.label = nil
        stored.userInfo = [:]
        stored.priority = .normal
        stored.session = nil
        // allow(secrets): none is left.
        stored.secretsOrigin = nil
        return stored
    }

    /// The stored request with its secrets. Secrets of removed sources are omitted. No secret is sent to an origin other than
    /// the one it was given for, even if the URLs have changed, as they may have in a list that was rebuilt from journals.
    package func join(_ secrets: Secrets?) -> DownloadRequest {
        guard let secrets else { return self }
        var request = self
        for (index, credentials) in secrets.sources where sources.indices.contains(index) {
            request.sources[index] = SecretScope.giveBack(
                credentials, of: secrets.origins[index], to: sources[index])
        }
        // allow(secrets): the secrets of this row go back, for the servers that they were given for.
        if let home = secrets.home, home != SecretScope.home(of: request) { request.secretsOrigin = home }
        for header in secrets.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            request.headers.append(HTTPField(name: name, value: header.value))
        }
        // allow(secrets): as above.
        request.credentials = secrets.credentials
        request.checksumList = checksumList?.with(secrets.checksumList)
        // Proxy credentials are restored only for the proxy that they were given for.
        if let proxy = secrets.proxy, connection.proxy == proxy.withoutCredentials { request.connection.proxy = proxy }
        // allow(secrets): each cookie has its host.
        request.connection.cookies = secrets.cookies
        return request
    }
}

extension Secrets {
    /// The secrets that ``FerryCore/DownloadRequest/withoutSecrets`` removes; `nil` if there are none.
    package init?(of request: DownloadRequest) {
        self.init(credentials: request.credentials, checksumList: request.checksumList?.credentials)
        home = SecretScope.home(of: request)
        for (index, source) in request.sources.enumerated() {
            guard let credentials = source.credentials else { continue }
            sources[index] = credentials
            origins[index] = source.origin
        }
        for field in request.headers where field.name.isSecret {
            headers.append(StoredHeader(name: field.name.rawName, value: field.value))
        }
        if request.connection.proxy?.server?.credentials != nil { proxy = request.connection.proxy }
        cookies = request.connection.cookies
        if isEmpty { return nil }
    }
}

/// A request as stored in the column `request`, with members that no client may send.
struct RequestColumn: Codable {
    var request: DownloadRequest
    var hasSecrets: Bool

    private enum CodingKeys: String, CodingKey { case hasSecrets, root, keptCopy, knownObject, knownIdentity }

    init(_ request: DownloadRequest, hasSecrets: Bool) {
        self.request = request
        self.hasSecrets = hasSecrets
    }

    init(from decoder: any Decoder) throws {
        request = try DownloadRequest(from: decoder)
        if case .directory("", _) = request.destination { throw CatalogueColumns.Unreadable() }
        // An earlier version stored any number without checking it.
        request.maxConnections = max(1, request.maxConnections)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        request.root = try container.decodeIfPresent(String.self, forKey: .root)
        request.keptCopy = try container.decodeIfPresent(KeptCopy.self, forKey: .keptCopy)
        request.knownObject = try container.decodeIfPresent(KnownObject.self, forKey: .knownObject)
        request.knownIdentity = try container.decodeIfPresent(FileIdentity.self, forKey: .knownIdentity)
        hasSecrets = try container.decodeIfPresent(Bool.self, forKey: .hasSecrets) ?? false
    }

    func encode(to encoder: any Encoder) throws {
        try request.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(request.root, forKey: .root)
        try container.encodeIfPresent(request.keptCopy, forKey: .keptCopy)
        try container.encodeIfPresent(request.knownObject, forKey: .knownObject)
        try container.encodeIfPresent(request.knownIdentity, forKey: .knownIdentity)
        if hasSecrets { try container.encode(hasSecrets, forKey: .hasSecrets) }
    }
}
