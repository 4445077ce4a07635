package import FerryCore

/// The body of `POST /downloads`: a ``FerryCore/DownloadRequest`` or `{"downloads": […]}`. Either all downloads are added or
/// none. Decoding refuses unknown members.
package struct NewDownloads: Codable, Sendable, Hashable {
    package var downloads: [DownloadRequest]
    /// Whether the body was a single object; the response is then a single download too.
    package var isSingle: Bool

    package init(_ downloads: [DownloadRequest]) {
        self.downloads = downloads
        isSingle = false
    }

    private enum CodingKeys: String, CodingKey { case downloads }

    private struct List: ClientBody {
        enum CodingKeys: String, CodingKey, CaseIterable { case downloads }
        let downloads: [Entry]
    }

    /// One of the downloads; decoding errors contain its index.
    private struct Entry: Decodable {
        let request: DownloadRequest

        init(from decoder: any Decoder) throws {
            do { request = try Strict<DownloadRequest>(from: decoder).body } catch {
                var problem = Problem(decoding: error)
                problem.index = decoder.codingPath.last?.intValue
                throw problem
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        isSingle = try !decoder.container(keyedBy: CodingKeys.self).contains(.downloads)
        downloads =
            isSingle
            ? [try Strict<DownloadRequest>(from: decoder).body]
            : try Strict<List>(from: decoder).body.downloads.map(\.request)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(downloads, forKey: .downloads)
    }
}
