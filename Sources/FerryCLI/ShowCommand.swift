import ArgumentParser
import FerryTerminal

/// `ferry show`: shows the details of downloads.
struct ShowCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show details and history of downloads.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.show(downloads) }
    }
}
