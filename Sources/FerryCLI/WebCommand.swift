import ArgumentParser
import FerryTerminal

/// `ferry web`: opens the web page.
struct WebCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Open the web page in a browser, signed in; its address is printed if there is no desktop.",
        discussion: "Each signed-in browser has its own token, which can be listed and revoked.")

    @Flag(name: .customLong("print"), help: "Print the address instead of opening it; valid once, for one minute.")
    var printsAddress = false

    @Flag(name: .customLong("list"), help: "List the signed-in browsers.")
    var lists = false

    @Option(
        name: .customLong("withdraw"), parsing: .upToNextOption,
        help: ArgumentHelp("Revoke the tokens of browsers: identifiers from --list, or all.", valueName: "id"))
    var withdrawn: [String] = []

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func validate() throws {
        guard [printsAddress, lists, !withdrawn.isEmpty].count(where: { $0 }) <= 1 else {
            throw ValidationError("--print, --list and --withdraw exclude each other")
        }
    }

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: !lists && withdrawn.isEmpty) { run in
            if lists { return try await run.listBrowsers() }
            if !withdrawn.isEmpty { return try await run.signOut(withdrawn) }
            return try await run.web { !printsAddress && Browser.open(file: $0) }
        }
    }
}
