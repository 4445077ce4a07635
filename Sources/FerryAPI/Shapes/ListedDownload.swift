package import FerryCore
package import struct Foundation.Date

/// A download in lists, responses and events. Contains no secrets: neither user info in URLs nor header fields.
///
/// `state` is a word, with `waitReason` and `until` while waiting, `pauseReason` if the user did not request the pause,
/// `error` after a failure and `proof` when complete. `actions` are those valid now.
package struct ListedDownload: Sendable, Hashable {
    package var status: DownloadStatus
    package var session: String
    /// The source with its query, which every permitted client may see.
    package var url: String
    /// The destination directory while there is no `path`; `nil` for a part file given by path.
    package var directory: String?
    /// The position among downloads of equal priority; lower runs first. Not an index.
    package var position = 0
    package var priority = DownloadPriority.normal
    package var label: String?
    package var userInfo: [String: String] = [:]
    /// The validator (ETag or Last-Modified) of a completed file, as sent; before that only in ``DownloadDetail``.
    package var validator: String?
    /// The expected digest, `sha-256=HEX`.
    package var checksum: String?
    package var rateLimit: ByteCount?
    package var maxConnections = 16
    package var network = NetworkRule()
    package var addedAt: Date
    package var endedAt: Date?
    /// The state of a library's handle, for clients that request it.
    package var handle: HandleBody?

    package init(status: DownloadStatus, session: String, url: String, addedAt: Date) {
        self.status = status
        self.session = session
        self.url = url
        self.addedAt = addedAt
    }

    package var id: DownloadID { status.id }
}

extension ListedDownload: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, session, name, url, state, waitReason, until, pauseReason, error, actions, progress, path, directory,
            position
        case priority, label, userInfo, proof, validator, checksum, rateLimit, maxConnections, allowsMetered
        case allowsConstrained, addedAt, endedAt, handle
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let state = try StateBody(
            state: container.decode(String.self, forKey: .state),
            waitReason: container.decodeIfPresent(String.self, forKey: .waitReason),
            until: container.decodeDateIfPresent(forKey: .until),
            error: container.decodeIfPresent(ErrorBody.self, forKey: .error),
            proof: container.decodeIfPresent(String.self, forKey: .proof))
        guard let known = state.value else {
            throw DecodingError.dataCorruptedError(
                forKey: .state, in: container,
                debugDescription: "unknown state \(APIText.quote(state.state)): perhaps of a newer version of Ferry")
        }
        status = DownloadStatus(
            id: DownloadID(rawValue: try container.decode(String.self, forKey: .id)), state: known,
            progress: try container.decode(ProgressBody.self, forKey: .progress).progress,
            name: try container.decode(String.self, forKey: .name),
            path: try container.decodeIfPresent(String.self, forKey: .path),
            pauseReason: try container.decodeIfPresent(String.self, forKey: .pauseReason)
                .flatMap(PauseReason.init(rawValue:)))
        session = try container.decode(String.self, forKey: .session)
        url = try container.decode(String.self, forKey: .url)
        directory = try container.decodeIfPresent(String.self, forKey: .directory)
        position = try container.decode(Int.self, forKey: .position)
        priority = DownloadPriority(rawValue: try container.decode(Int.self, forKey: .priority))
        label = try container.decodeIfPresent(String.self, forKey: .label)
        userInfo = try container.decodeIfPresent([String: String].self, forKey: .userInfo) ?? [:]
        validator = try container.decodeIfPresent(String.self, forKey: .validator)
        checksum = try container.decodeIfPresent(String.self, forKey: .checksum)
        rateLimit = try container.decodeIfPresent(ByteCount.self, forKey: .rateLimit)
        maxConnections = try container.decode(Int.self, forKey: .maxConnections)
        network = NetworkRule(
            allowsMetered: try container.decodeIfPresent(Bool.self, forKey: .allowsMetered),
            allowsConstrained: try container.decodeIfPresent(Bool.self, forKey: .allowsConstrained))
        addedAt = try container.decodeDate(forKey: .addedAt)
        endedAt = try container.decodeDateIfPresent(forKey: .endedAt)
        handle = try container.decodeIfPresent(HandleBody.self, forKey: .handle)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let state = StateBody(status.state)
        try container.encode(status.id.rawValue, forKey: .id)
        try container.encode(session, forKey: .session)
        try container.encode(status.name, forKey: .name)
        try container.encode(url, forKey: .url)
        try container.encode(state.state, forKey: .state)
        try container.encode(state.waitReason, forKey: .waitReason)
        try container.encode(date: state.until, forKey: .until)
        try container.encode(status.pauseReason, forKey: .pauseReason)
        try container.encode(state.error, forKey: .error)
        try container.encode(state.actions, forKey: .actions)
        try container.encode(ProgressBody(status.progress), forKey: .progress)
        try container.encode(status.path, forKey: .path)
        try container.encode(directory, forKey: .directory)
        try container.encode(position, forKey: .position)
        try container.encode(priority.rawValue, forKey: .priority)
        try container.encode(label, forKey: .label)
        try container.encode(userInfo, forKey: .userInfo)
        try container.encode(state.proof, forKey: .proof)
        try container.encode(validator, forKey: .validator)
        try container.encode(checksum, forKey: .checksum)
        try container.encode(rateLimit, forKey: .rateLimit)
        try container.encode(maxConnections, forKey: .maxConnections)
        try container.encode(network.allowsMetered, forKey: .allowsMetered)
        try container.encode(network.allowsConstrained, forKey: .allowsConstrained)
        try container.encode(date: addedAt, forKey: .addedAt)
        try container.encode(date: endedAt, forKey: .endedAt)
        try container.encodeIfPresent(handle, forKey: .handle)
    }
}
