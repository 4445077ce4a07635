/// The sentences of errors and events in every language: one row for each ``ErrorPhrase/Key``.
///
/// The placeholders `{0}`, `{1}`, … of a row are filled with the arguments of an ``ErrorPhrase``. The type of a row
/// requires every language. `SentenceTableTests` verifies that every key has a row, that the languages of a row have the
/// same placeholders, and that each phrase in the source code has the matching number of arguments.
package enum SentenceTable {
    package typealias Rows = [ErrorPhrase.Key: Language.Texts]

    package static let rows: Rows = [
        requests, servers, answers, validators, redirects, remoteFiles, network, tls, urls, localFiles, sets, objects,
        fileOperations,
        ownership, moves, resumeData, daemon, manager, handover, catalogue, events, suggestions, setSuggestions,
    ].reduce(into: [:]) { rows, area in
        rows.merge(area) { first, _ in preconditionFailure("two areas have the row of “\(first.english)”") }
    }

    /// The Chinese patterns of the texts that only the command line shows, keyed by the English patterns. In the code,
    /// such a text is a ``Reason`` in English, whose interpolations correspond to the placeholders.
    package static let chinesePatterns = [
        terminalPatterns, batchPatterns, setPatterns, fleetPatterns, objectPatterns, gatewayPatterns,
    ]
    .reduce(
        into: [:]
    ) { all, area in
        all.merge(area) { first, _ in preconditionFailure("two tables have the pattern of “\(first)”") }
    }
}

extension ErrorPhrase.Key {
    /// Returns the sentence with its placeholders.
    func pattern(in language: Language) -> String {
        guard let texts = SentenceTable.rows[self] else { preconditionFailure("\(self) has no row in SentenceTable") }
        return language.text(of: texts)
    }
}
