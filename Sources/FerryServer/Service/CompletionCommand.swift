import FerryCore

/// What is run after each completed download, made sure of before it is needed.
enum CompletionCommand {
    /// The command with the path of its program: a bare name is looked for in the directories of `searchPath`. No words, or
    /// an empty name, are no command.
    ///
    /// Throws `invalidRequest` when there is no such program, or it cannot be executed.
    static func resolve(_ words: [String], searchPath: String) throws(DownloadError) -> [String] {
        guard let name = words.first, !name.isEmpty else { return [] }
        guard let program = SearchPath.program(name, in: searchPath) else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableSetting, ErrorPhrase(.noProgram, name)), recovery: .needsUser)
        }
        return [program] + words.dropFirst()
    }
}
