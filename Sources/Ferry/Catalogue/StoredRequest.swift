import HTTPTypes
package import struct Foundation.Date

/// The stored form of a request: without secrets, and without the fields of ``CatalogueRow`` (identifier, label, user
/// info, priority).
package struct StoredRequest: Sendable, Hashable {
    /// Without user info.
    package var sources: [DownloadURL]
    package var destination: DownloadRequest.Destination
    package var onConflict: ConflictRule
    /// Accept, Accept-Language, User-Agent and Referer only.
    package var headers: [StoredHeader]
    package var checksum: Checksum?
    package var checksumList: DownloadURL?
    package var maxConnections: Int
    package var rateLimit: ByteCount?
    package var maxBytes: ByteCount?
    package var trust: TrustRules
    package var syncsToDisk: Bool
    package var startsPaused: Bool
    package var notBefore: Date?
    package var network: NetworkRule
    package var onDuplicate: DuplicateRule
    /// Whether the request had secrets; if they are missing, the download waits for credentials.
    package var hasSecrets: Bool
    /// The directory that the download may not leave.
    package var root: String?
}

extension StoredRequest {
    /// Splits a request into the stored form and its secrets (`nil` if there are none).
    package static func split(_ request: DownloadRequest) -> (stored: StoredRequest, secrets: Secrets?) {
        var secrets = Secrets(credentials: request.credentials)
        secrets.home = SecretScope.home(of: request)
        var open: [StoredHeader] = []
        for field in request.headers {
            let header = StoredHeader(name: field.name.rawName, value: field.value)
            if field.name.isSecret { secrets.headers.append(header) } else { open.append(header) }
        }
        for (index, source) in request.sources.enumerated() {
            guard let credentials = source.credentials else { continue }
            secrets.sources[index] = credentials
            secrets.origins[index] = source.origin
        }
        secrets.checksumList = request.checksumList?.credentials
        let stored = StoredRequest(
            sources: request.sources.map { $0.with(nil) }, destination: request.destination,
            onConflict: request.onConflict, headers: open, checksum: request.checksum,
            checksumList: request.checksumList?.with(nil), maxConnections: request.maxConnections,
            rateLimit: request.rateLimit, maxBytes: request.maxBytes, trust: request.trust,
            syncsToDisk: request.syncsToDisk, startsPaused: request.startsPaused, notBefore: request.notBefore,
            network: request.network, onDuplicate: request.onDuplicate, hasSecrets: !secrets.isEmpty,
            root: request.root)
        return (stored, secrets.isEmpty ? nil : secrets)
    }

    /// The request with its secrets. Secrets of removed sources are omitted, and none is sent to another origin than
    /// it was given for, even if the URLs are different now: those of a rebuilt list come from journals.
    package func join(_ secrets: Secrets?) -> DownloadRequest {
        var request = DownloadRequest(sources: sources, destination: destination)
        for (index, credentials) in secrets?.sources ?? [:] where sources.indices.contains(index) {
            request.sources[index] = SecretScope.giveBack(
                credentials, of: secrets?.origins[index], to: sources[index])
        }
        if let home = secrets?.home, home != SecretScope.home(of: request) { request.secretsOrigin = home }
        for header in headers + (secrets?.headers ?? []) {
            guard let name = HTTPField.Name(header.name) else { continue }
            request.headers.append(HTTPField(name: name, value: header.value))
        }
        request.credentials = secrets?.credentials
        request.checksum = checksum
        request.checksumList = checksumList?.with(secrets?.checksumList)
        request.onConflict = onConflict
        request.maxConnections = maxConnections
        request.rateLimit = rateLimit
        request.maxBytes = maxBytes
        request.trust = trust
        request.syncsToDisk = syncsToDisk
        request.startsPaused = startsPaused
        request.notBefore = notBefore
        request.network = network
        request.onDuplicate = onDuplicate
        request.root = root
        return request
    }
}
