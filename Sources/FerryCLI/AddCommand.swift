import ArgumentParser
import FerryTerminal

/// `ferry add`: hand downloads to the daemon.
struct AddCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Hand downloads to the daemon, which is started when it does not run.",
        discussion: """
            The identifiers that they got are printed. A URL that is listed already is not added again.

            EXAMPLES:
              ferry add https://example.com/large.iso
              ferry add -i list.txt -d downloads --paused
              ferry add URL --at 22:30 --limit-rate 2M
            """)

    @Argument(help: ArgumentHelp("URLs and part files.", valueName: "url"))
    var items: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file's name and place. One URL only.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("The directory for the files (default: the daemon's).", valueName: "dir"))
    var directory: String?

    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("A list of URLs; - is standard input.", valueName: "list"))
    var lists: [String] = []

    @Option(
        help: ArgumentHelp("What the file must have: sha256:HEX, or a file to find it in.", valueName: "alg:hex|@url"))
    var checksum: String?

    @Option(help: ArgumentHelp("Another URL of the same file. One URL only.", valueName: "url"))
    var mirror: [String] = []

    @Flag(help: "Add it paused.")
    var paused = false

    @Option(
        help: ArgumentHelp("Begin then: 22:30, 2026-12-24 22:30, 2026-12-24T22:30:00Z, +2h.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("low, normal, high or a number.", valueName: "priority"))
    var priority: String?

    @Option(
        help: ArgumentHelp("Whether metered networks may be used (default: as the daemon says).", valueName: "on|off"))
    var metered: String?

    @Option(help: ArgumentHelp("A text to know it by.", valueName: "text"))
    var label: String?

    @Flag(help: "Add another one where the same URL is listed.")
    var again = false

    @Option(help: ArgumentHelp("Bytes per second at most, for each: 500K, 5M.", valueName: "rate"))
    var limitRate: String?

    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("connections")],
        help: ArgumentHelp("The most connections for a file.", valueName: "n"))
    var connections = 16

    @Option(help: ArgumentHelp("Refuse files larger than this.", valueName: "size"))
    var maxSize: String?

    @Option(
        help: ArgumentHelp("A header to send; or a file with one a line.", valueName: "'K: V'|@FILE"))
    var header: [String] = []

    @Option(help: ArgumentHelp("Who to be there; without a URL USER@HOST says where.", valueName: "user[:password]"))
    var user: String?

    @Flag(help: "Take user and password from $NETRC or ~/.netrc.")
    var netrc = false

    @Flag(help: "Connect to public addresses only: no loopback, link-local, private or metadata address.")
    var noPrivate = false

    @OptionGroup(title: "Trust and conflicts") var trust: TrustOptions
    @OptionGroup(title: "Output") var flags: RemoteFlags

    /// The words as the planner takes them.
    var options: AddOptions {
        var options = AddOptions()
        options.get.items = items
        options.get.output = output
        options.get.directory = directory
        options.get.lists = lists
        options.get.checksum = checksum
        options.get.mirrors = mirror
        options.get.limitRate = limitRate
        options.get.connections = connections
        options.get.maxSize = maxSize
        options.get.headers = header
        options.get.user = user
        options.get.netrc = netrc
        options.get.noPrivate = noPrivate
        trust.fill(&options.get)
        options.isPaused = paused
        options.at = at
        options.priority = priority
        options.metered = metered
        options.label = label
        options.again = again
        return options
    }

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: true) { try await $0.add(options) }
    }
}
