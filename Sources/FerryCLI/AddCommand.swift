import ArgumentParser
import FerryTerminal

/// `ferry add`: adds downloads to the daemon.
struct AddCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        // Parsed without the other commands, like `ferry get`.
        _superCommandName: "ferry",
        abstract: "Add downloads to the daemon, starting it if necessary.",
        discussion: """
            Prints the identifiers of the new downloads. URLs already listed are not added again.

            EXAMPLES:
              ferry add https://example.com/large.iso
              ferry add -i list.txt -d downloads --paused
              ferry add URL --at 22:30 --limit-rate 2M
            """)

    @OptionGroup var options: AddOptions
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: true) { try await $0.add(options) }
    }
}
