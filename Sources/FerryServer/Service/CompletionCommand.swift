import FerryCore

/// The command to run after each completed download, validated when the settings are read.
enum CompletionCommand {
    /// Returns the command with its program resolved: a bare name is searched for in `searchPath`. An empty list, or
    /// an empty name, returns an empty command.
    ///
    /// Throws `invalidRequest` if the program does not exist or is not executable.
    static func resolve(_ words: [String], searchPath: String) throws(DownloadError) -> [String] {
        guard let name = words.first, !name.isEmpty else { return [] }
        guard let program = SearchPath.program(name, in: searchPath) else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableSetting, ErrorPhrase(.noProgram, name)), recovery: .needsUser)
        }
        return [program] + words.dropFirst()
    }
}
