/// Coded as `{"id", "progress", "name", "path"?, "pauseReason"?}` with the members of ``DownloadState``; a waiting one has
/// its `error`, if there is one. An unknown pause reason is ignored.
extension DownloadStatus: Codable {
    private enum CodingKeys: String, CodingKey { case id, progress, name, path, pauseReason, error }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let state = try DownloadState(from: decoder)
        self.init(
            id: DownloadID(rawValue: try container.decode(String.self, forKey: .id)),
            state: state,
            progress: try container.decode(DownloadProgress.self, forKey: .progress),
            name: try container.decode(String.self, forKey: .name),
            path: try container.decodeIfPresent(String.self, forKey: .path),
            pauseReason: try container.decodeIfPresent(String.self, forKey: .pauseReason)
                .flatMap(PauseReason.init(rawValue:)),
            waitError: state.kind == .waiting ? try container.decodeIfPresent(DownloadError.self, forKey: .error) : nil
        )
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.rawValue, forKey: .id)
        try state.encode(to: encoder)
        try container.encode(progress, forKey: .progress)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(path, forKey: .path)
        try container.encodeIfPresent(pauseReason, forKey: .pauseReason)
        if state.kind == .waiting { try container.encodeIfPresent(waitError, forKey: .error) }
    }
}
