import ArgumentParser
import FerryTerminal

/// `ferry watch`: shows running downloads live.
struct WatchCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch downloads live; ends when the given downloads have ended.",
        discussion: """
            On a terminal: up, down, PgUp, PgDn, Home and End select, / searches, p pauses, r resumes, c cancels, d \
            removes, + and - change the daemon's limit, q quits.
            """)

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, or names (default: all).", valueName: "download"),
        completion: .downloads)
    var downloads: [String] = []

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.watch(downloads) }
    }
}
