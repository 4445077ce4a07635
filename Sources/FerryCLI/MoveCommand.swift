import ArgumentParser
import FerryTerminal

/// `ferry move`: changes a download's position in the list.
struct MoveCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a download in the queue, among downloads of the same priority.")

    @Argument(
        help: ArgumentHelp("An identifier, a unique prefix, or a name.", valueName: "download"), completion: .downloads)
    var download: String

    @Argument(
        help: ArgumentHelp(
            "New position: first, last, before DOWNLOAD, after DOWNLOAD, or a number from 1.", valueName: "position"),
        completion: .list(["first", "last", "before", "after"]))
    var place: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.move(download, to: place)
        }
    }
}
