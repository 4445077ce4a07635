import FerryCore

extension JournalRecord {
    /// Returns the URLs of a download that resumes this record: those of its request and, if the record contains the request's
    /// first URL, those of the record. There are no duplicates. The URL that sent the validators comes first; a URL that the
    /// request contains has the form given there. `nil` if there are none.
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
