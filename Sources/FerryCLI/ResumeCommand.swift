import ArgumentParser
import FerryTerminal

/// `ferry resume`: resumes downloads.
struct ResumeCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume paused downloads and retry failed ones.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: true, session: whose.session) {
            try await $0.act(.resume, on: downloads)
        }
    }
}
