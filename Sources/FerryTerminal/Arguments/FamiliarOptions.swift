package import ArgumentParser

/// Options of curl and wget that say what Ferry does anyway. They are accepted, so that a pasted command works, and
/// listed in no help.
package struct FamiliarOptions: ParsableArguments, Sendable {
    /// Following redirects, resuming, naming the file after the server, failing for an error of the server, URLs
    /// without patterns, an unchanged body, the date of the server.
    @Flag(
        name: [
            .customShort("L"), .customLong("location"), .customShort("c"), .customLong("continue"), .customShort("O"),
            .customLong("remote-name"), .customShort("J"), .customLong("remote-header-name"),
            .customLong("content-disposition"), .customShort("f"), .customLong("fail"), .customShort("S"),
            .customLong("show-error"), .customShort("g"), .customLong("globoff"), .customLong("compressed"),
            .customShort("R"), .customLong("remote-time"),
        ], help: .hidden)
    package var isAccepted: Int

    /// The offset of `curl -C`, which Ferry finds itself.
    @Option(name: [.customShort("C"), .customLong("continue-at")], parsing: .unconditional, help: .hidden)
    package var continueAt: String?

    @Option(name: [.customShort("X"), .customLong("request")], help: .hidden)
    package var method: String?

    package init() {}

    package func validate() throws {
        if let continueAt, continueAt != "-" {
            throw ValidationError("-C \(continueAt): ferry finds out itself where to go on; leave it out")
        }
        if let method, method.uppercased() != "GET" { throw ValidationError(OptionAdvice.onlyGET) }
    }
}
