import ArgumentParser
import FerryTerminal

/// `ferry move`: another place in the list.
struct MoveCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a download within the list, among those of its priority.")

    @Argument(help: ArgumentHelp("An identifier, its beginning, or a name.", valueName: "download"))
    var download: String

    @Argument(
        help: ArgumentHelp("first, last, before DOWNLOAD, after DOWNLOAD, or a number from 1.", valueName: "place"))
    var place: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.move(download, to: place)
        }
    }
}
