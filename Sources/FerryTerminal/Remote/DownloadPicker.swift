package import FerryAPI
import FerryCore

/// Resolves download arguments: an identifier, a unique prefix of one, a name, or `all`. Pure.
package enum DownloadPicker {
    /// Returns the downloads in the order of the arguments, without duplicates.
    ///
    /// Throws for an argument that matches none or several. A whole identifier takes precedence over a name, and a
    /// name over a prefix of an identifier.
    package static func pick(
        _ words: [String], from all: [ListedDownload]
    ) throws(UsageError) -> [ListedDownload] {
        if words == ["all"] { return all }
        var picked: [ListedDownload] = []
        var seen: Set<DownloadID> = []
        for word in words {
            let one = try one(word, from: all)
            if seen.insert(one.id).inserted { picked.append(one) }
        }
        return picked
    }

    /// Returns the download that an argument refers to.
    package static func one(_ word: String, from all: [ListedDownload]) throws(UsageError) -> ListedDownload {
        guard !word.isEmpty else { throw UsageError("an empty text names no download") }
        if let exact = all.first(where: { $0.id.rawValue == word }) { return exact }
        let beginning = all.filter { $0.id.rawValue.utf8.hasPrefix(word) }
        let named = all.filter { $0.status.name == word }
        // Names first: a short name may be a prefix of many identifiers.
        for found in [named, beginning] where !found.isEmpty {
            if found.count > 1 { throw ambiguous(word, found) }
            return found[0]
        }
        throw UsageError(
            "no download is called \(word), and no identifier begins so; ferry list shows them", code: .notFound)
    }

    private static func ambiguous(_ word: String, _ found: [ListedDownload]) -> UsageError {
        let shown = found.prefix(3).map { "\($0.id.rawValue) (\($0.status.name))" }.joined(separator: ", ")
        return UsageError(
            "\(word) means \(found.count) downloads: \(shown)\(found.count > 3 ? ", …" : ""); give more of the identifier"
        )
    }
}
