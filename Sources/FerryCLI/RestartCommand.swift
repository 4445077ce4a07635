import ArgumentParser
import FerryTerminal

/// `ferry restart`: downloads files again.
struct RestartCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "Download completed or cancelled files again, from the beginning.",
        discussion: "The earlier file stays until the new one is complete, which then replaces it.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.act(.restart, on: downloads)
        }
    }
}
