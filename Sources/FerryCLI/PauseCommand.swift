import ArgumentParser
import FerryTerminal

/// `ferry pause`: pauses downloads.
struct PauseCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause downloads and keep their data.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.act(.pause, on: downloads)
        }
    }
}
