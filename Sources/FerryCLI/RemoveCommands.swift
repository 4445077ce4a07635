import ArgumentParser
import FerryTerminal

/// `ferry remove`: removes downloads from the list.
struct RemoveCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove downloads from the list; unfinished ones are cancelled.",
        usage: """
            ferry remove DOWNLOAD... [--session SESSION|all] [--delete-files|--keep]
                         [--yes] [--json]
            """)

    @OptionGroup var named: NamedDownloads

    @Flag(help: "Also delete finished files.")
    var deleteFiles = false

    @OptionGroup var deletion: DeletionFlags
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func validate() throws {
        if deletion.keep, deleteFiles { throw ValidationError("--keep and --delete-files exclude each other") }
    }

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: named.session.session) {
            deletion.keep
                ? try await $0.keep(named.downloads)
                : try await $0.remove(named.downloads, deletingFiles: deleteFiles, isSure: deletion.yes)
        }
    }
}

/// `ferry clear`: removes ended downloads from the list.
struct ClearCommand: AsyncCommand {
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
