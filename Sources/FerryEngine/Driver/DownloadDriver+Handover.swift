package import FerryCore

extension DownloadDriver {
    /// The facts that a run has learned about the URL that the system may request.
    package struct Answered: Sendable, Hashable {
        /// The URL that the download's bytes come from.
        package let source: DownloadURL
        /// The final target of its redirects; `nil` if it was not redirected. The intermediate URLs are not known.
        package let target: DownloadURL?
        /// Whether the server does not support ranges, as far as its responses show.
        package let lacksRanges: Bool
        /// Whether the server has sent a strong validator; `nil` before its first response.
        package let isProven: Bool?
    }

    /// Returns the known facts about the source; `nil` before existing files have been examined.
    package var answered: Answered? {
        guard transfer.startedAt != nil, let source = transfer.sources.first else { return nil }
        let facts = transfer.facts
        return Answered(
            source: source, target: transfer.target(of: 0), lacksRanges: transfer.lacksRanges,
            isProven: facts.finalURL.isEmpty ? nil : facts.identity.strongValidator != nil)
    }
}
