import FerryCore

extension JournalRecord {
    /// Returns the URLs of a download that goes on with this record: those of its request, and the record's if one of them
    /// is the request's first. Without duplicates: first the one that sent the validators, then the others, in the given
    /// form where there is one. `nil` if there are none.
    func sources(with given: [DownloadURL]) -> (urls: [DownloadURL], isNew: Bool)? {
        let known = urls.compactMap { try? DownloadURL($0) }
        let given = given.isEmpty ? known : given
        guard let first = given.first else { return nil }
        guard names(first) else { return (given, true) }
        let named = given.flatMap { [($0.text, $0), (DownloadURL.earlierText(of: $0.text) ?? $0.text, $0)] }
        let own = Dictionary(named) { first, _ in first }
        var seen: Set<String> = []
        let all = (known.prefix(1) + given + known).map { own[$0.text] ?? $0 }.filter { seen.insert($0.text).inserted }
        return (Array(all.prefix(DownloadRequest.mostSources)), false)
    }
}
