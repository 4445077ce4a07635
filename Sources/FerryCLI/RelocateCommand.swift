import ArgumentParser
import FerryTerminal

/// `ferry relocate`: moves a download's files to another directory.
struct RelocateCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "relocate", abstract: "Move a download's files to another directory, also on another disk.")

    @Argument(
        help: ArgumentHelp("An identifier, a unique prefix, or a name.", valueName: "download"), completion: .downloads)
    var download: String

    @Argument(help: ArgumentHelp("The target directory.", valueName: "dir"))
    var directory: String

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.relocate(download, to: directory)
        }
    }
}
