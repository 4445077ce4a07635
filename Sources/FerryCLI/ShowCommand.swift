import ArgumentParser
import FerryTerminal

/// `ferry show`: all about downloads.
struct ShowCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show all about downloads: where they are, and what happened to them.")

    @Argument(help: ArgumentHelp("Identifiers, their beginnings, names, or all.", valueName: "download"))
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.show(downloads) }
    }
}
