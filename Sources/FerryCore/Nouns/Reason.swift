/// Why something is so: a sentence that is known in every language, or words that stay what they are.
package enum Reason: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Names, paths, numbers, and what a system, a library or a server says.
    case words(String)
    case phrase(ErrorPhrase)

    /// A sentence.
    package init(_ key: ErrorPhrase.Key, _ arguments: any ReasonConvertible...) {
        self = .phrase(ErrorPhrase(key: key, reasons: arguments.map(\.reason)))
    }

    package init(stringLiteral words: String) { self = .words(words) }

    package func text(in language: Language) -> String {
        switch self {
        case .words(let words): words
        case .phrase(let phrase): phrase.text(in: language)
        }
    }

    /// In English.
    package var description: String { text(in: .english) }
}

/// Two are equal when they say the same in English.
extension Reason: Hashable {
    package static func == (left: Reason, right: Reason) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// What may fill a hole of a sentence.
package protocol ReasonConvertible: Sendable {
    var reason: Reason { get }
}

extension Reason: ReasonConvertible { package var reason: Reason { self } }
extension String: ReasonConvertible { package var reason: Reason { .words(self) } }
extension ErrorPhrase: ReasonConvertible { package var reason: Reason { .phrase(self) } }
