import ArgumentParser
import FerryTerminal

/// `ferry get`: download here and now.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download here and now; run it again to go on.",
        usage: """
            ferry get URL... [-o FILE] [-d DIR] [options]
            ferry get -i LIST [options]
            ferry get NAME.part [NEWURL]
            ferry get DIR
            """,
        discussion: """
            Finished paths are printed on standard output, everything else on standard error. Stopped with Ctrl-C, \
            killed or cut off, it goes on when the same command is run again. NAME.part goes on with what that file \
            holds, from a new URL when the old one is dead; DIR goes on with all part files in it.

            A list has one URL a line; URLs on one line with tabs between them are mirrors of one file; indented \
            lines below are its options: out=, dir=, checksum=, header=.

            Sizes: K M G, KB MB GB are powers of 1000, KiB MiB GiB of 1024.

            EXAMPLES:
              ferry get https://example.com/large.iso
              ferry get URL -o name.iso --checksum sha256:HEX --mirror URL2
              ferry get -i list.txt -d downloads -j 4
              ferry get large.iso.part https://example.com/fresh-link
              ferry get URL -o - | tar xz

            EXIT CODES:
            \(FerryTerminal.ExitCode.help)
            """)

    @Argument(help: ArgumentHelp("URLs, part files, or directories with part files.", valueName: "url"))
    var items: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file's name and place; - is standard output. One URL only.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp(
            "The directory for the files; made where it is missing (default: this one).", valueName: "dir"))
    var directory: String?

    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("A list of URLs; - is standard input.", valueName: "list"))
    var lists: [String] = []

    @Option(
        help: ArgumentHelp(
            "What the file must have: sha256:HEX (sha512, sha1, md5; one URL only), or a file like SHA256SUMS to find it in.",
            valueName: "alg:hex|@url"))
    var checksum: String?

    @Option(help: ArgumentHelp("Another URL of the same file. One URL only.", valueName: "url"))
    var mirror: [String] = []

    @OptionGroup(title: "Transfer") var transfer: TransferOptions
    @OptionGroup(title: "Server") var connection: ConnectionOptions
    @OptionGroup(title: "Trust and conflicts") var trust: TrustOptions
    @OptionGroup(title: "Output") var show: OutputFlags

    /// The words as the planner takes them.
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
