import ArgumentParser
import FerryTerminal

/// `ferry add`: adds downloads to the daemon.
struct AddCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add downloads to the daemon, starting it if necessary.",
        discussion: """
            Prints the identifiers of the new downloads. URLs already listed are not added again.

            EXAMPLES:
              ferry add https://example.com/large.iso
              ferry add -i list.txt -d downloads --paused
              ferry add URL --at 22:30 --limit-rate 2M
            """)

    @Argument(help: ArgumentHelp("URLs and part files.", valueName: "url"))
    var items: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Output path. Needs exactly one URL.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("The target directory (default: the daemon's).", valueName: "dir"))
    var directory: String?

    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("A file with a list of URLs; - is standard input.", valueName: "list"))
    var lists: [String] = []

    @Option(
        help: ArgumentHelp("Expected checksum: sha256:HEX, or @URL of a checksum file.", valueName: "alg:hex|@url"))
    var checksum: String?

    @Option(help: ArgumentHelp("A mirror of the file; needs exactly one URL argument.", valueName: "url"))
    var mirror: [String] = []

    @Flag(help: "Add the downloads paused.")
    var paused = false

    @Option(
        help: ArgumentHelp("Start time: 22:30, 2026-12-24 22:30, 2026-12-24T22:30:00Z, +2h.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("Priority: low, normal, high or a number.", valueName: "priority"))
    var priority: String?

    @Option(
        help: ArgumentHelp(
            "Whether metered networks may be used (default: the daemon's setting).", valueName: "on|off"))
    var metered: String?

    @Option(help: ArgumentHelp("A label.", valueName: "text"))
    var label: String?

    @Flag(help: "Add the download even if its URL is listed.")
    var again = false

    @Option(help: ArgumentHelp("Rate limit per download, in bytes per second: 500K, 5M.", valueName: "rate"))
    var limitRate: String?

    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("connections")],
        help: ArgumentHelp("Maximum connections per file.", valueName: "n"))
    var connections = 16

    @Option(help: ArgumentHelp("Maximum file size; larger files are refused.", valueName: "size"))
    var maxSize: String?

    @Option(
        help: ArgumentHelp("A request header, or a file with one header per line.", valueName: "'K: V'|@FILE"))
    var header: [String] = []

    @Option(help: ArgumentHelp("Credentials for the server; without a URL: USER@HOST.", valueName: "user[:password]"))
    var user: String?

    @Flag(help: "Read user and password from $NETRC or ~/.netrc.")
    var netrc = false

    @Flag(help: "Connect to public addresses only: no loopback, link-local, private or metadata addresses.")
    var noPrivate = false

    @OptionGroup(title: "Trust and conflicts") var trust: TrustOptions
    @OptionGroup(title: "Output") var flags: RemoteFlags

    /// The options for the planner.
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
