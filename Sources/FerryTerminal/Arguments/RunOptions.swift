import ArgumentParser

/// Options of a command that downloads in its own process.
package struct RunOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")],
        help: ArgumentHelp("Maximum number of simultaneous files.", valueName: "n"))
    package var parallel = 3

    @Flag(help: "Use your own files even if they are group-writable, in a directory shared with a group.")
    package var sharedGroup = false

    package init() {}
}
