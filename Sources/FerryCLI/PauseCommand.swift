import ArgumentParser
import FerryTerminal

/// `ferry pause`.
struct PauseCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause downloads; what is there stays.")

    @Argument(help: ArgumentHelp("Identifiers, their beginnings, names, or all.", valueName: "download"))
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.act(.pause, on: downloads)
        }
    }
}
