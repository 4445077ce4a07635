/// The beginnings of identifiers that are enough to tell them apart. Pure.
package struct ShortIdentifiers: Sendable, Hashable {
    /// How many characters are shown of each.
    package let length: Int
    private static let least = 6

    /// - Parameter all: All identifiers that could be meant.
    package init(_ all: [String]) {
        let sorted = all.sorted()
        var length = Self.least
        // Two that are alike for longest stand side by side.
        for (first, second) in zip(sorted, sorted.dropFirst()) where first != second {
            let common = zip(first, second).prefix { $0 == $1 }.count
            length = max(length, common + 1)
        }
        self.length = length
    }

    private init(length: Int) { self.length = length }

    /// Nothing is left out: for when not all that could be meant are known.
    package static let whole = ShortIdentifiers(length: .max)

    package func short(_ identifier: String) -> String { String(identifier.prefix(length)) }
}
