package import ArgumentParser

/// The arguments of `ferry sync`.
package struct SyncArguments: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            """
            A list (URLs, JSON lines, CSV with a heading, SHA256SUMS, Metalink, a manifest), its URL, the URL of an \
            index page, which ends with /, or a directory to store in s3://.
            """,
            valueName: "source"), completion: .file())
    package var source: String

    @Argument(
        help: ArgumentHelp(
            "The directory to keep the files in, created if missing, or s3://BUCKET/PREFIX/ for objects of a bucket.",
            valueName: "dir"),
        completion: .directory)
    package var destination: String

    @Option(
        help: ArgumentHelp(
            "Only files whose name matches: * and ? for characters; with a / the path is compared, ** for directories.",
            valueName: "pattern"))
    package var include: [String] = []

    @Option(
        help: ArgumentHelp(
            "No files whose name (or path, with a /) matches; DIR/ leaves out directories, whose pages are not read.",
            valueName: "pattern"))
    package var exclude: [String] = []

    @Option(help: ArgumentHelp("Only files larger than this, if the list states their size.", valueName: "size"))
    package var largerThan: String?

    @Option(help: ArgumentHelp("Only files smaller than this, if the list states their size.", valueName: "size"))
    package var smallerThan: String?

    @Option(
        help: ArgumentHelp(
            "Only files that were changed within this time, like 7d, if the list states their date.", valueName: "time")
    )
    package var newerThan: String?

    @Option(
        help: ArgumentHelp(
            "Only files that were changed longer ago than this, like 7d, if the list states their date.",
            valueName: "time"))
    package var olderThan: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Depth of directories below an index page; 0 for its own files only.", valueName: "n"))
    package var depth: Int?

    @Option(help: ArgumentHelp("The URL of the directory that names in a list are relative to.", valueName: "url"))
    package var base: String?

    @Flag(
        help: """
            Make names safe for every file system: no hidden names, and none with : ? * | < > or a leading dash. By \
            default only names that this system or Ferry takes for something else are changed.
            """)
    package var safeNames = false

    @Flag(
        help: """
            Treat a file as unchanged, without a request, if the list has the same date and size as before.
            """)
    package var trustListing = false

    @Option(
        help: ArgumentHelp(
            "If a file not from the set has the name of one that is: fail or overwrite (default: fail).",
            valueName: "rule"),
        completion: .list(["fail", "overwrite"]))
    package var onConflict: String?

    @Flag(help: "Delete files of the set that the source no longer lists, if they are unchanged here.")
    package var delete = false

    @Option(
        help: ArgumentHelp(
            "Let --delete delete at most this many files, else none. Default: half of a set of more than ten files.",
            valueName: "N|P%"))
    package var maxDelete: String?

    @Option(
        help: ArgumentHelp(
            "Keep each file that is replaced or deleted, at its path below this directory.", valueName: "dir"),
        completion: .directory)
    package var backupDir: String?

    @Option(
        help: ArgumentHelp(
            "The directory where files are until they are uploaded to s3:// (default: below Ferry's state directory).",
            valueName: "dir"), completion: .directory)
    package var staging: String?

    @Flag(help: "Show what would be fetched, checked, kept and deleted, and why; write nothing.")
    package var dryRun = false

    @Flag(help: "Let the daemon sync the set, starting it if necessary; ferry sets shows it.")
    package var daemon = false

    @OptionGroup(title: "Request") package var request: RequestOptions
    @OptionGroup(title: "Trust") package var trust: TrustOptions
    @OptionGroup(title: "Transfer") package var run: RunOptions
    @OptionGroup(title: "Output") package var show: OutputFlags

    package init() {}
}

/// The arguments of `ferry verify`.
package struct VerifyArguments: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "Files, and directories that ferry sync made.", valueName: "path"), completion: .file())
    package var paths: [String]

    @Flag(help: "Write the state of every file to standard output as JSON, one per line.")
    package var json = false

    @Flag(name: .shortAndLong, help: "Also list the files that are intact.")
    package var verbose = false

    package init() {}
}

/// The arguments of `ferry repair`.
package struct RepairArguments: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "Files, and directories that ferry sync made.", valueName: "path"), completion: .file())
    package var paths: [String]

    @Option(
        help: ArgumentHelp(
            "Where to fetch one file from; by default where it was downloaded from.", valueName: "url"))
    package var url: String?

    @Flag(help: "In directories, also replace files that were written here after they were downloaded.")
    package var changed = false

    @OptionGroup(title: "Request") package var request: RequestOptions
    @OptionGroup(title: "Trust") package var trust: TrustOptions
    @OptionGroup(title: "Transfer") package var run: RunOptions
    @OptionGroup(title: "Output") package var show: OutputFlags

    package init() {}
}
