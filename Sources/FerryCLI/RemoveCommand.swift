import ArgumentParser
import FerryTerminal

/// `ferry remove`: removes downloads from the list.
struct RemoveCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove downloads from the list; unfinished ones are cancelled.")

    @Argument(help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"))
    var downloads: [String]

    @Flag(help: "Also delete finished files.")
    var deleteFile = false

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.remove(downloads, deletingFile: deleteFile)
        }
    }
}
