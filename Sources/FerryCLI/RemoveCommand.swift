import ArgumentParser
import FerryTerminal

/// `ferry remove`: off the list.
struct RemoveCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take downloads off the list; those that have not ended are cancelled.")

    @Argument(help: ArgumentHelp("Identifiers, their beginnings, names, or all.", valueName: "download"))
    var downloads: [String]

    @Flag(help: "Delete finished files too.")
    var deleteFile = false

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.remove(downloads, deletingFile: deleteFile)
        }
    }
}
