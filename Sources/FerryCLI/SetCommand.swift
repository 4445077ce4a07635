import ArgumentParser
import FerryTerminal

/// `ferry set`: changes settings of the daemon or of downloads.
struct SetCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change settings of the daemon, or of the downloads given first.",
        usage: """
            ferry set
            ferry set NAME=VALUE...
            ferry set DOWNLOAD... [NAME=VALUE...] [--header 'K: V'|@FILE]
                      [--user USER[:PASSWORD]] [--session SESSION|all] [--json]
            """,
        discussion: """
            Without arguments the settings of the daemon are shown.

            Settings of the daemon (names: \(SetPlanner.daemonNames.joined(separator: ", ")))

            Settings of a download (names: \(SetPlanner.downloadNames.joined(separator: ", ")))

            EXAMPLES:
              ferry set metered=off max-concurrent=2 limit=5MB
              ferry set large.iso priority=high limit=none
              ferry set large.iso --user USER
            """)

    @Argument(
        help: ArgumentHelp("Downloads, and settings as NAME=VALUE.", valueName: "download|name=value"),
        completion: .downloads)
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "For a download: a header that replaces the previous ones, or a file with one header per line.",
            valueName: "'K: V'|@FILE"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "For a download: credentials for the server. Prompts for a missing password.",
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
