/// The sessions whose downloads a list holds beside its own: looked for when the list was lost.
package struct HostedSessions: Sendable, Hashable {
    package var identifiers: Set<String>
    /// Where their downloads go, absolute.
    package var directories: [String]

    package init(identifiers: Set<String> = [], directories: [String] = []) {
        self.identifiers = identifiers
        self.directories = directories
    }
}
