/// The body of `POST /downloads`: a ``NewDownload`` or `{"downloads": […]}`. All are added or none.
package struct NewDownloads: Codable, Sendable, Hashable {
    package var downloads: [NewDownload]
    /// Whether the body was a single object; the response then is a single download.
    package var isSingle: Bool

    package init(_ downloads: [NewDownload]) {
        self.downloads = downloads
        isSingle = false
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case downloads }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyMember.self)
        isSingle = !container.contains(AnyMember("downloads"))
        downloads =
            isSingle
            ? [try NewDownload(from: decoder)]
            : try decoder.members(CodingKeys.self).decode([NewDownload].self, forKey: .downloads)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(downloads, forKey: .downloads)
    }
}
