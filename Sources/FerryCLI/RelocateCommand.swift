import ArgumentParser
import FerryTerminal

/// `ferry relocate`: files to another directory.
struct RelocateCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "relocate", abstract: "Move the files of a download to another directory, wherever that is.")

    @Argument(help: ArgumentHelp("An identifier, its beginning, or a name.", valueName: "download"))
    var download: String

    @Argument(help: ArgumentHelp("The directory that they move to.", valueName: "dir"))
    var directory: String

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.relocate(download, to: directory)
        }
    }
}
