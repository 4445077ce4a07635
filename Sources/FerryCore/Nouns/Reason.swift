/// The reason of an event: a sentence that is available in every language, or a text that is not translated.
package enum Reason: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// A name, path or number, or a text of a system, a library or a server.
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

    /// The English text.
    package var description: String { text(in: .english) }
}

/// Two reasons are equal if their English texts are equal.
extension Reason: Hashable {
    package static func == (left: Reason, right: Reason) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// An argument of a sentence.
package protocol ReasonConvertible: Sendable {
    var reason: Reason { get }
}

extension Reason: ReasonConvertible { package var reason: Reason { self } }
extension String: ReasonConvertible { package var reason: Reason { .words(self) } }
extension ErrorPhrase: ReasonConvertible { package var reason: Reason { .phrase(self) } }
