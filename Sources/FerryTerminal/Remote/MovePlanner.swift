package import FerryCore

/// Parses the destination of `ferry move`. Pure.
package enum MovePlanner {
    /// Parses `first`, `last`, `before ID`, `after ID`, or a number from 1, which is the position among all downloads of
    /// the same priority. ID is a word that the user typed and the daemon resolves.
    package static func place(_ words: [String]) throws(UsageError) -> ListPlacement {
        switch (words.first, words.count) {
        case ("first", 1): return .first
        case ("last", 1): return .last
        case ("before", 2): return .before(DownloadID(rawValue: words[1]))
        case ("after", 2): return .after(DownloadID(rawValue: words[1]))
        case (let word?, 1):
            guard let number = Int(word), number >= 1 else { break }
            return .index(number - 1)
        default: break
        }
        throw UsageError("where to? write first, last, before ID, after ID, or a number from 1")
    }
}
