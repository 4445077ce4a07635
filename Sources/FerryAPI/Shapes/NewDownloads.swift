/// What `POST /downloads` takes: one ``NewDownload``, or `{"downloads": […]}`; all or none are added.
package struct NewDownloads: Codable, Sendable, Hashable {
    package var downloads: [NewDownload]
    /// It was one alone: the answer is one download.
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
