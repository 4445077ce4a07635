package import ArgumentParser
package import FerryTerminal

extension CommandGroup {
    /// The command that describes aria2c, among those that download in their own process.
    package static var aria2: CommandGroup {
        CommandGroup(name: "Direct downloads", subcommands: [Aria2Command.self])
    }
}

extension EmulatedProgram {
    /// aria2c, with its command line, output and exit statuses.
    package static let aria2c = EmulatedProgram(
        Aria2Program.name, secrecy: Aria2Option.secrecy(of:), secrets: Aria2WordReader.secrets(in:),
        run: Aria2Program.run)
}

/// `ferry aria2c`: the binary as aria2c. Its arguments are passed on without being parsed (``EmulatedProgram``); this type only
/// describes it.
struct Aria2Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: Aria2Program.name,
        abstract: "Download with the arguments, output and exit status of aria2c.",
        discussion: """
            For HTTP and HTTPS. A link to the binary with the name aria2c does the same: programs that start aria2c use \
            Ferry then. ferry aria2c -h lists the options; docs/aria2c.md says what becomes of each.

            EXAMPLES:
              ferry aria2c -x 16 -d downloads -o large.iso https://example.com/large.iso
              ln -s "$(command -v ferry)" ~/bin/aria2c
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Arguments of aria2c.", valueName: "argument"))
    var arguments: [String] = []
}
