/// The sentences of errors and events in every language: one row for each ``ErrorPhrase/Key``.
///
/// The holes `{0}`, `{1}`, … of a row are filled by the arguments of an ``ErrorPhrase``. A row cannot lack a language;
/// `SentenceTableTests` proves that no key lacks its row, that the languages of a row have the same holes, and that the
/// sources give as many arguments.
package enum SentenceTable {
    package typealias Rows = [ErrorPhrase.Key: Language.Texts]

    package static let rows: Rows = [
        requests, servers, answers, validators, redirects, remoteFiles, network, tls, urls, localFiles, sets, objects,
        fileOperations,
        ownership, moves, resumeData, daemon, manager, handover, catalogue, events, suggestions, setSuggestions,
    ].reduce(into: [:]) { rows, area in
        rows.merge(area) { first, _ in preconditionFailure("two areas have the row of “\(first.english)”") }
    }

    /// The Chinese patterns of the texts that only the command line shows, by their English ones. In the code such a text
    /// is a ``Reason`` that is written in English, and its interpolations are the holes.
    package static let chinesePatterns = [
        terminalPatterns, batchPatterns, setPatterns, fleetPatterns, objectPatterns, gatewayPatterns,
    ]
    .reduce(
        into: [:]
    ) { all, area in
        all.merge(area) { first, _ in preconditionFailure("two tables have the pattern of “\(first)”") }
    }

    /// The Chinese texts of the help, by its English lines.
    package static let chineseHelp = [commandHelp, fleetHelp, gatewayHelp].reduce(into: [:]) { all, area in
        all.merge(area) { first, _ in preconditionFailure("two tables have the help “\(first)”") }
    }
}

extension ErrorPhrase.Key {
    /// The sentence with its holes.
    func pattern(in language: Language) -> String {
        guard let texts = SentenceTable.rows[self] else { preconditionFailure("\(self) has no row in SentenceTable") }
        return language.text(of: texts)
    }
}
