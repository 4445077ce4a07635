package import FerryCore

/// The members of ``ListedDownload`` and further details of one download.
package struct DownloadDetail: Codable, Sendable, Hashable {
    package var download: ListedDownload
    /// All URLs, without user info.
    package var sources: [String]
    /// The names of the request's header fields, never their values.
    package var headers: [String]
    /// The ranges of the file, ascending and contiguous; empty while they are unknown.
    package var segments: [Segment]
    package var response: Response
    /// Bytes per second, one sample a second, newest last, at most ``mostSpeeds``; empty when the download is not
    /// running.
    package var speeds: [Int64]

    package static let mostSpeeds = 120

    /// A range of the file and its state.
    package struct Segment: Codable, Sendable, Hashable {
        /// The offset of the first byte.
        package var start: ByteCount
        /// The offset after the last byte.
        package var end: ByteCount
        /// `done`, `running` or `missing`.
        package var state: String
        /// The connection that fetches the range; `nil` if there is none.
        package var connection: Int?

        package init(start: ByteCount, end: ByteCount, state: String, connection: Int? = nil) {
            self.start = start
            self.end = end
            self.state = state
            self.connection = connection
        }
    }

    /// Metadata of the server's response.
    package struct Response: Codable, Sendable, Hashable {
        package var type: String?
        /// The URL of the final response, its query shown as `?…`.
        package var finalURL: String?
        package var lastModified: String?

        package init(type: String? = nil, finalURL: String? = nil, lastModified: String? = nil) {
            self.type = type
            self.finalURL = finalURL
            self.lastModified = lastModified
        }
    }

    package init(_ download: ListedDownload) {
        self.download = download
        sources = []
        headers = []
        segments = []
        response = Response()
        speeds = []
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case sources, headers, segments, response, speeds }

    package init(from decoder: any Decoder) throws {
        download = try ListedDownload(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        sources = try container.decode([String].self, forKey: .sources)
        headers = try container.decode([String].self, forKey: .headers)
        segments = try container.decode([Segment].self, forKey: .segments)
        response = try container.decode(Response.self, forKey: .response)
        speeds = try container.decode([Int64].self, forKey: .speeds)
    }

    package func encode(to encoder: any Encoder) throws {
        try download.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(sources, forKey: .sources)
        try container.encode(headers, forKey: .headers)
        try container.encode(segments, forKey: .segments)
        try container.encode(response, forKey: .response)
        try container.encode(speeds, forKey: .speeds)
    }
}

extension DownloadDetail.Segment {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(start, forKey: .start)
        try container.encode(end, forKey: .end)
        try container.encode(state, forKey: .state)
        try container.encode(connection, forKey: .connection)
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case start, end, state, connection }
}

extension DownloadDetail.Response {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(finalURL, forKey: .finalURL)
        try container.encode(lastModified, forKey: .lastModified)
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case type, finalURL, lastModified }
}
