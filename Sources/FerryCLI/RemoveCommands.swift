import ArgumentParser
import FerryTerminal

/// `ferry remove`: removes downloads from the list.
struct RemoveCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove downloads from the list; unfinished ones are cancelled.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @Flag(help: "Also delete finished files.")
    var deleteFiles = false

    @Flag(help: "Take unfinished ones off the list, but keep their part files; ferry get goes on with them.")
    var keep = false

    @Flag(name: [.customShort("y"), .long], help: "Ask nothing, also on a terminal and where much is deleted.")
    var yes = false

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func validate() throws {
        if keep, deleteFiles { throw ValidationError("--keep and --delete-files exclude each other") }
    }

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            keep
                ? try await $0.keep(downloads)
                : try await $0.remove(downloads, deletingFiles: deleteFiles, isSure: yes)
        }
    }
}

/// `ferry clear`: removes ended downloads from the list.
struct ClearCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove ended downloads from the list.")

    @Argument(
        help: ArgumentHelp("State: completed, failed, cancelled or all.", valueName: "state"),
        completion: .list(["completed", "failed", "cancelled", "all"]))
    var which = "completed"

    @Flag(help: "Also delete finished files.")
    var deleteFiles = false

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json) { try await $0.clear(which, deletingFiles: deleteFiles) }
    }
}
