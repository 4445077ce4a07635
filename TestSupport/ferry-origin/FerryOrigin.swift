import ArgumentParser
import FerryTesting

/// The executable of the misbehaving origin server.
@main
struct FerryOrigin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ferry-origin",
        abstract: "An origin server for tests and demos: files of any size, and any misbehaviour, by URL.",
        discussion: OriginProgram.help,
        subcommands: [ServeCommand.self, PrintCommand.self, CompareCommand.self, AuthorityCommand.self],
        defaultSubcommand: ServeCommand.self)
}
