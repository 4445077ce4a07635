/// The shortest prefix length that keeps identifiers unique. Pure.
package struct ShortIdentifiers: Sendable, Hashable {
    /// The number of characters to show.
    package let length: Int
    private static let least = 6

    /// - Parameter all: All identifiers to distinguish.
    package init(_ all: [String]) {
        let sorted = all.sorted()
        var length = Self.least
        // In sorted order, the longest common prefixes occur between neighbours.
        for (first, second) in zip(sorted, sorted.dropFirst()) where first != second {
            let common = zip(first, second).prefix { $0 == $1 }.count
            length = max(length, common + 1)
        }
        self.length = length
    }

    private init(length: Int) { self.length = length }

    /// Shortens nothing; for use when not all identifiers are known.
    package static let whole = ShortIdentifiers(length: .max)

    package func short(_ identifier: String) -> String { String(identifier.prefix(length)) }
}
