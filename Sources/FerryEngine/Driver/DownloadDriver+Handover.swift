package import FerryCore

extension DownloadDriver {
    /// What a run has learned about the URL that the system may request.
    package struct Answered: Sendable, Hashable {
        /// The URL that the download's bytes come from.
        package let source: DownloadURL
        /// Where its redirects led last; `nil` if it has not been redirected. The URLs between are not known.
        package let target: DownloadURL?
        /// Whether the server sends no ranges, as far as its responses tell.
        package let lacksRanges: Bool
        /// Whether the server has named a strong validator; `nil` before its first response.
        package let isProven: Bool?
    }

    /// Returns what is known of the source; `nil` before existing files have been examined.
    package var answered: Answered? {
        guard transfer.startedAt != nil, let source = transfer.sources.first else { return nil }
        let facts = transfer.facts
        return Answered(
            source: source, target: transfer.target(of: 0), lacksRanges: transfer.lacksRanges,
            isProven: facts.finalURL.isEmpty ? nil : facts.identity.strongValidator != nil)
    }
}
