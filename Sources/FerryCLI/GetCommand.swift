import ArgumentParser
import FerryTerminal

/// `ferry get`: downloads in this process.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download files; run the same command again to resume.",
        usage: """
            ferry get URL... [-o FILE] [-d DIR] [options]
            ferry get -i LIST [options]
            ferry get NAME.part [NEWURL]
            ferry get DIR
            """,
        discussion: """
            Paths of finished files are printed on standard output, everything else on standard error. After Ctrl-C, a \
            crash or a lost connection, the same command resumes the download. NAME.part resumes that part file, from \
            NEWURL if its link has expired; DIR resumes all part files in it.

            A list has one URL per line; URLs on one line, separated by tabs, are mirrors of one file. Indented lines \
            below a URL are its options: out=, dir=, checksum=, header=.

            Sizes and rates: K M G and KB MB GB are powers of 1000, KiB MiB GiB powers of 1024.

            EXAMPLES:
              ferry get https://example.com/large.iso
              ferry get URL -o name.iso --checksum sha256:HEX --mirror URL2
              ferry get -i list.txt -d downloads -j 4
              ferry get large.iso.part https://example.com/fresh-link
              ferry get URL -o - | tar xz

            EXIT CODES:
            \(FerryTerminal.ExitCode.help)
            """)

    @Argument(help: ArgumentHelp("URLs, part files, or directories with part files to resume.", valueName: "url"))
    var items: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Output path; - is standard output. Needs exactly one URL.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp(
            "The target directory; created if missing (default: the current one).", valueName: "dir"))
    var directory: String?

    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("A file with a list of URLs; - is standard input.", valueName: "list"))
    var lists: [String] = []

    @Option(
        help: ArgumentHelp(
            "Expected checksum: sha256:HEX (or sha512, sha1, md5; one URL only), or @URL of a checksum file.",
            valueName: "alg:hex|@url"))
    var checksum: String?

    @Option(help: ArgumentHelp("A mirror of the file; needs exactly one URL argument.", valueName: "url"))
    var mirror: [String] = []

    @OptionGroup(title: "Transfer") var transfer: TransferOptions
    @OptionGroup(title: "Server") var connection: ConnectionOptions
    @OptionGroup(title: "Trust and conflicts") var trust: TrustOptions
    @OptionGroup(title: "Output") var show: OutputFlags

    /// The options for the planner.
    var options: GetOptions {
        var options = GetOptions()
        options.items = items
        options.output = output
        options.directory = directory
        options.lists = lists
        options.checksum = checksum
        options.mirrors = mirror
        transfer.fill(&options)
        connection.fill(&options)
        trust.fill(&options)
        show.fill(&options)
        return options
    }
}
