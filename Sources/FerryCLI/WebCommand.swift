import ArgumentParser
import FerryTerminal

/// `ferry web`: the page.
struct WebCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Open the page in a browser, signed in; its address is printed where there is no desktop.")

    @Flag(name: .customLong("print"), help: "Print the address instead of opening it; it lets in once, for a minute.")
    var printsAddress = false

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: true) {
            try await $0.web { !printsAddress && Browser.open($0) }
        }
    }
}
