package import FerryCore

/// The members of ``ListedDownload`` and further details of one download.
@dynamicMemberLookup
package struct DownloadDetail: Sendable, Hashable {
    package var download: ListedDownload
    private var facts = Facts()

    package static let mostSpeeds = 120

    package struct Facts: Codable, Sendable, Hashable {
        /// All URLs, without user info.
        package var sources: [String] = []
        /// The names of the request's header fields, never their values.
        package var headers: [String] = []
        /// The ranges of the file, ascending and contiguous; empty while they are unknown.
        package var segments: [Segment] = []
        package var response = Response()
        /// Bytes per second, one sample a second, newest last, at most ``mostSpeeds``; empty when the download is not
        /// running.
        package var speeds: [Int64] = []
        /// Whether the download resumes by comparing samples if the server sends no validator; absent if not.
        package var resumesUnproven: Bool?
        /// The queue position of a download that waits for a slot; absent for others.
        package var queue: Queue?
        /// The download's own proxy, without credentials, or `none`.
        package var proxy: String?
        /// Whether the download trusts only its own certificates; absent if not.
        package var hasCertificates: Bool?
        /// Whether any certificate is accepted; absent if not.
        package var insecure: Bool?
        /// The download's own maximum size in bytes.
        package var maxBytes: ByteCount?
        /// The download's own maximum number of consecutive retries without progress.
        package var maxRetries: Int?
    }

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

    /// The place of a download that waits for a slot.
    package struct Queue: Codable, Sendable, Hashable {
        /// The number of downloads that get a slot before this one.
        package var before: Int
        /// The number of downloads that have a slot.
        package var running: Int
        /// The number of slots.
        package var limit: Int

        package init(before: Int, running: Int, limit: Int) {
            self.before = before
            self.running = running
            self.limit = limit
        }
    }

    /// Metadata of the server's response.
    package struct Response: Codable, Sendable, Hashable {
        package var type: String?
        /// The URL of the final response, its query shown as `?…`.
        package var finalURL: String?
        package var lastModified: String?
        /// Whether the server does not send ranges; absent if it does, or if this is unknown.
        package var lacksRanges: Bool?

        package init(
            type: String? = nil, finalURL: String? = nil, lastModified: String? = nil, lacksRanges: Bool? = nil
        ) {
            self.type = type
            self.finalURL = finalURL
            self.lastModified = lastModified
            self.lacksRanges = lacksRanges
        }
    }

    package init(_ download: ListedDownload) { self.download = download }

    package subscript<Value>(dynamicMember path: WritableKeyPath<Facts, Value>) -> Value {
        get { facts[keyPath: path] }
        set { facts[keyPath: path] = newValue }
    }
}

extension DownloadDetail: Codable {
    package init(from decoder: any Decoder) throws {
        download = try ListedDownload(from: decoder)
        facts = try Facts(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try download.encode(to: encoder)
        try facts.encode(to: encoder)
    }
}
