import ArgumentParser
import FerryTerminal

/// `ferry cancel`: cancels downloads.
struct CancelCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel downloads and delete their partial data.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @Flag(help: "Take unfinished ones off the list, but keep their part files; ferry get goes on with them.")
    var keep = false

    @Flag(name: [.customShort("y"), .long], help: "Ask nothing, also on a terminal and where much is deleted.")
    var yes = false

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            keep ? try await $0.keep(downloads) : try await $0.cancel(downloads, isSure: yes)
        }
    }
}
