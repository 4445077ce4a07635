/// Sessions whose downloads a list hosts beside its own; used to rebuild a lost list from journals.
package struct HostedSessions: Sendable, Hashable {
    package var identifiers: Set<String>
    /// The directories of their downloads, absolute.
    package var directories: [String]

    package init(identifiers: Set<String> = [], directories: [String] = []) {
        self.identifiers = identifiers
        self.directories = directories
    }
}
