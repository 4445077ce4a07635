import FerryCore

/// The options of a `ferry get`, for the printed command that resumes its file. Pure.
package enum GivenOptions {
    /// Returns the options as shell words, without credentials for the server; other secrets are `…`. Empty unless the
    /// command names exactly one file, because options for several files do not apply to one of them.
    ///
    /// - Parameters:
    ///   - words: The words after `get`.
    ///   - items: The words that name the files to download.
    package static func text(_ words: [String], items: [String]) -> String {
        guard items.count == 1, let item = items.first else { return "" }
        let secrets = ArgumentSecrets.ranges(in: (["get"] + words).map { Array($0.utf8) }).dropFirst()
        var shown: [String] = []
        var isUser = false
        for (word, ranges) in zip(words, secrets) {
            if isUser {
                isUser = false
                continue
            }
            // Not given by the user: `ferry curl` and `ferry wget` add it.
            if word.hasSameBytes(as: "--fail-when-refused") { continue }
            isUser = word.hasSameBytes(as: "--user") || word.hasSameBytes(as: "-u")
            if isUser || word.utf8.hasPrefix("--user=") || word.utf8.hasPrefix("-u") { continue }
            if word.hasSameBytes(as: item) { continue }
            var bytes = Array(word.utf8)
            for range in ranges.sorted(by: { $0.lowerBound > $1.lowerBound }) {
                bytes.replaceSubrange(range, with: "…".utf8)
            }
            shown.append(ShellWord.quote(String(decoding: bytes, as: UTF8.self)))
        }
        return shown.joined(separator: " ")
    }
}
