package import ArgumentParser

/// The files that a command downloads, and their destination.
package struct FileOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "URLs and part files; of ferry get also directories with part files to resume.", valueName: "url"))
    package var items: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Output path; of ferry get, - is standard output. Needs exactly one URL.", valueName: "file")
    )
    package var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir"), .customShort("P")],
        help: ArgumentHelp(
            "The target directory; created if missing (default: the current one; of ferry add: the daemon's).",
            valueName: "dir"))
    package var directory: String?

    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("A file with a list of URLs; - is standard input.", valueName: "list"))
    package var lists: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Expected checksum: sha256:HEX (or sha512, sha1, md5, or the digits alone; one URL only), @FILE or @URL of a \
            checksum file like SHA256SUMS, or none to drop that of an earlier run.
            """,
            valueName: "hex|@file|@url|none"))
    package var checksum: String?

    @Option(help: ArgumentHelp("A mirror of the file; needs exactly one URL argument.", valueName: "url"))
    package var mirror: [String] = []

    @OptionGroup(visibility: .hidden) var familiar: FamiliarOptions

    package init() {}
}
