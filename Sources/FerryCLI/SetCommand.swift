import ArgumentParser
import FerryTerminal

/// `ferry set`: settings of the daemon or of downloads.
struct SetCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Show or change settings: of the daemon, or of downloads that are named first.",
        discussion: """
            Of the daemon: \(SetPlanner.daemonNames.joined(separator: ", ")). Of a download: \
            \(SetPlanner.downloadNames.joined(separator: ", ")).

            EXAMPLES:
              ferry set metered=off max-concurrent=2 limit=5MB
              ferry set large.iso priority=high limit=none
              ferry set large.iso --user USER
            """)

    @Argument(help: ArgumentHelp("Downloads, and settings as NAME=VALUE.", valueName: "word"))
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of a download: a header to send, instead of those of before; or a file with one a line.",
            valueName: "'K: V'|@FILE"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of a download: who to be. Without a password it is asked for on the terminal.",
            valueName: "user[:password]"))
    var user: String?

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.set(words, headers: header, user: user)
        }
    }
}
