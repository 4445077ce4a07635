import FerryCore
import struct Foundation.Date

/// An object; members with their default value are omitted. Paths as they are, times in seconds since 1970, checksums
/// as `sha-256=HEX`. Headers are pairs of name and value, in order.
extension StoredRequest: Codable {
    private enum Key: String, CodingKey {
        case sources, destination, onConflict, headers, checksum, checksumList, maxConnections, rateLimit, maxBytes
        case trust, syncsToDisk, startsPaused, notBefore, network, onDuplicate, hasSecrets, root
    }

    /// Throws for a stream, which ends with its process.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        let usual = Self.usual
        try object.encode(sources, forKey: .sources)
        try object.encode(StoredDestination(destination), forKey: .destination)
        if onConflict != usual.onConflict { try object.encode(onConflict, forKey: .onConflict) }
        if !headers.isEmpty { try object.encode(headers, forKey: .headers) }
        try object.encodeIfPresent(checksum.map(\.description), forKey: .checksum)
        try object.encodeIfPresent(checksumList, forKey: .checksumList)
        if maxConnections != usual.maxConnections { try object.encode(maxConnections, forKey: .maxConnections) }
        try object.encodeIfPresent(rateLimit, forKey: .rateLimit)
        try object.encodeIfPresent(maxBytes, forKey: .maxBytes)
        if trust != usual.trust { try object.encode(trust, forKey: .trust) }
        if !syncsToDisk { try object.encode(syncsToDisk, forKey: .syncsToDisk) }
        if startsPaused { try object.encode(startsPaused, forKey: .startsPaused) }
        try object.encodeIfPresent(notBefore?.storedSeconds, forKey: .notBefore)
        if network != usual.network { try object.encode(network, forKey: .network) }
        if onDuplicate != usual.onDuplicate { try object.encode(onDuplicate, forKey: .onDuplicate) }
        if hasSecrets { try object.encode(hasSecrets, forKey: .hasSecrets) }
        try object.encodeIfPresent(root, forKey: .root)
    }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        self = Self.usual
        sources = try object.decode([DownloadURL].self, forKey: .sources)
        destination = try object.decode(StoredDestination.self, forKey: .destination).destination
        onConflict = try object.decodeIfPresent(ConflictRule.self, forKey: .onConflict) ?? onConflict
        headers = try object.decodeIfPresent([StoredHeader].self, forKey: .headers) ?? []
        if let text = try object.decodeIfPresent(String.self, forKey: .checksum) {
            do {
                checksum = try Checksum(parsing: text)
            } catch {
                throw DecodingError.dataCorruptedError(forKey: .checksum, in: object, debugDescription: "\(error)")
            }
        }
        checksumList = try object.decodeIfPresent(DownloadURL.self, forKey: .checksumList)
        maxConnections = max(1, try object.decodeIfPresent(Int.self, forKey: .maxConnections) ?? maxConnections)
        rateLimit = try object.decodeIfPresent(ByteCount.self, forKey: .rateLimit)
        maxBytes = try object.decodeIfPresent(ByteCount.self, forKey: .maxBytes)
        trust = try object.decodeIfPresent(TrustRules.self, forKey: .trust) ?? trust
        syncsToDisk = try object.decodeIfPresent(Bool.self, forKey: .syncsToDisk) ?? true
        startsPaused = try object.decodeIfPresent(Bool.self, forKey: .startsPaused) ?? false
        notBefore = try object.decodeIfPresent(Double.self, forKey: .notBefore).map(Date.init(timeIntervalSince1970:))
        network = try object.decodeIfPresent(NetworkRule.self, forKey: .network) ?? network
        onDuplicate = try object.decodeIfPresent(DuplicateRule.self, forKey: .onDuplicate) ?? onDuplicate
        hasSecrets = try object.decodeIfPresent(Bool.self, forKey: .hasSecrets) ?? false
        root = try object.decodeIfPresent(String.self, forKey: .root)
    }

    /// A request with default values.
    private static let usual = split(DownloadRequest(sources: [], destination: .directory("."))).stored
}

/// `{"file": PATH}`, `{"directory": PATH}`, `{"directory": PATH, "name": NAME}` or `{"part": PATH}`.
struct StoredDestination: Codable {
    private enum Key: String, CodingKey { case file, directory, name, part }

    let destination: DownloadRequest.Destination

    init(_ destination: DownloadRequest.Destination) { self.destination = destination }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        switch destination {
        case .file(let path): try object.encode(path, forKey: .file)
        case .directory(let path, let name):
            try object.encode(path, forKey: .directory)
            if case .exact(let name) = name { try object.encode(name, forKey: .name) }
        case .part(let path): try object.encode(path, forKey: .part)
        case .stream:
            throw DownloadError(.invalidRequest, ErrorPhrase(.keptStream))
        }
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        if let path = try object.decodeIfPresent(String.self, forKey: .file) {
            destination = .file(path)
        } else if let path = try object.decodeIfPresent(String.self, forKey: .directory) {
            let name = try object.decodeIfPresent(String.self, forKey: .name)
            destination = .directory(path, name: name.map { .exact($0) } ?? .suggested)
        } else {
            destination = .part(try object.decode(String.self, forKey: .part))
        }
    }
}

extension StoredHeader: Codable {
    package func encode(to encoder: any Encoder) throws {
        var pair = encoder.unkeyedContainer()
        try pair.encode(name)
        try pair.encode(value)
    }

    package init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        name = try pair.decode(String.self)
        value = try pair.decode(String.self)
    }
}

extension Date {
    /// Seconds since 1970, with NaN replaced by 0 and the magnitude limited to 1e12 (the year 33658), which JSON can
    /// hold.
    var storedSeconds: Double {
        let seconds = timeIntervalSince1970
        return seconds.isNaN ? 0 : min(max(seconds, -1e12), 1e12)
    }
}
