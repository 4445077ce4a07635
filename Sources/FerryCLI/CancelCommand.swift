import ArgumentParser
import FerryTerminal

/// `ferry cancel`.
struct CancelCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel downloads, and delete what is there of them.")

    @Argument(help: ArgumentHelp("Identifiers, their beginnings, names, or all.", valueName: "download"))
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.act(.cancel, on: downloads)
        }
    }
}
