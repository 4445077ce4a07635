import FerryAPI

/// Parses the destination of `ferry move`. Pure.
package enum MovePlanner {
    package enum Place: Sendable, Hashable {
        case first, last
        /// The payload is an argument that refers to another download.
        case before(String)
        case after(String)
        /// The position among all downloads of the same priority, from 0.
        case index(Int)
    }

    /// Parses `first`, `last`, `before ID`, `after ID`, or a number from 1.
    package static func place(_ words: [String]) throws(UsageError) -> Place {
        switch (words.first, words.count) {
        case ("first", 1): return .first
        case ("last", 1): return .last
        case ("before", 2): return .before(words[1])
        case ("after", 2): return .after(words[1])
        case (let word?, 1):
            guard let number = Int(word), number >= 1 else { break }
            return .index(number - 1)
        default: break
        }
        throw UsageError("where to? write first, last, before ID, after ID, or a number from 1")
    }
}
