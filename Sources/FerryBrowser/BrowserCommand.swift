import ArgumentParser
import FerryTerminal

/// `ferry browser`: lets browsers pass their downloads to Ferry.
struct BrowserCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser",
        abstract: "Let the extension in your browsers hand downloads to the daemon.",
        discussion: """
            install writes a small file for each browser, which lets Ferry's extension start this program; uninstall \
            removes it; status shows whether it is there, and exits with 0 if it is.

            EXAMPLES:
              ferry browser install
              ferry browser status firefox
            """)

    @Argument(help: ArgumentHelp("install, uninstall or status.", valueName: "action"))
    var action: BrowserRun.Action

    @Argument(
        help: ArgumentHelp(
            """
            chromium, chrome, edge, brave, vivaldi, firefox or librewolf (default: those that have run for this user).
            """, valueName: "browser"))
    var browsers: [HostBrowser] = []

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.browser(action, browsers, json: flags.json)
    }
}

/// The native messaging host, which browsers start.
struct BrowserHostCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: HostManifest.hostCommand, abstract: "Answer the extension of a browser.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("The extension that the browser has named.", valueName: "extension"))
    var caller: String

    func act() async -> FerryTerminal.ExitCode { await Program.browserHost(caller) }
}
