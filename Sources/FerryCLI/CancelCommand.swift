import ArgumentParser
import FerryTerminal

/// `ferry cancel`: cancels downloads.
struct CancelCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel downloads and delete their partial data.")

    @Argument(help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"))
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.act(.cancel, on: downloads)
        }
    }
}
