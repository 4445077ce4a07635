import ArgumentParser
import FerryTerminal

/// `ferry resume`.
struct ResumeCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Let downloads go on; those that failed are tried again.")

    @Argument(help: ArgumentHelp("Identifiers, their beginnings, names, or all.", valueName: "download"))
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: true, session: whose.session) {
            try await $0.act(.resume, on: downloads)
        }
    }
}
