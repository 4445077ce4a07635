/// The reason of an event, or another text for users: a sentence that is available in every language, or a text that is
/// not translated.
package enum Reason: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// A name, path or number, or a text of a system, a library or a server.
    case words(String)
    case phrase(ErrorPhrase)
    /// A text of the command line: in English with holes, and what fills them. ``SentenceTable/chinesePatterns`` has its
    /// Chinese form.
    case pattern(String, [Reason])

    /// A sentence.
    package init(_ key: ErrorPhrase.Key, _ arguments: any ReasonConvertible...) {
        self = .phrase(ErrorPhrase(key: key, reasons: arguments.map(\.reason)))
    }

    package init(stringLiteral pattern: String) { self = .pattern(pattern, []) }

    package func text(in language: Language) -> String {
        switch self {
        case .words(let words): words
        case .phrase(let phrase): phrase.text(in: language)
        case .pattern(let pattern, let arguments):
            ErrorPhrase.fill(
                language == .english ? pattern : SentenceTable.chinesePatterns[pattern] ?? pattern,
                with: arguments.map { $0.text(in: language) })
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

extension Reason {
    /// Collects the pattern of an interpolated text.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pattern = ""
        fileprivate var arguments: [Reason] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { pattern += literal }

        package mutating func appendInterpolation(_ reason: Reason) {
            pattern += "{\(arguments.count)}"
            arguments.append(reason)
        }
        package mutating func appendInterpolation(_ phrase: ErrorPhrase) { appendInterpolation(Reason.phrase(phrase)) }
        package mutating func appendInterpolation(_ text: String) { appendInterpolation(Reason.words(text)) }
        package mutating func appendInterpolation(_ error: TextError) { appendInterpolation(error.whole) }
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(Reason.words(value.description))
        }
    }

    package init(stringInterpolation text: StringInterpolation) { self = .pattern(text.pattern, text.arguments) }

    /// The second text after the first, as one pattern.
    package static func + (left: Reason, right: Reason) -> Reason {
        let (first, second) = (left.parts, right.parts)
        let holes = second.arguments.indices.map { "{\($0 + first.arguments.count)}" }
        return .pattern(
            first.pattern + ErrorPhrase.fill(second.pattern, with: holes), first.arguments + second.arguments)
    }

    private var parts: (pattern: String, arguments: [Reason]) {
        switch self {
        case .words(let words): (words, [])
        case .phrase: ("{0}", [self])
        case .pattern(let pattern, let arguments): (pattern, arguments)
        }
    }
}
