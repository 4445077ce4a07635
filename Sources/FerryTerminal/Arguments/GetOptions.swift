package import ArgumentParser

/// The arguments of `ferry get` and `ferry plan`.
package struct GetOptions: ParsableArguments, Sendable {
    @OptionGroup package var files: FileOptions
    @OptionGroup(title: "Request") package var request: RequestOptions
    @OptionGroup(title: "Trust") package var trust: TrustOptions
    @OptionGroup(title: "Transfer") package var run: RunOptions
    @OptionGroup(title: "Transfer") package var outcome: OutcomeOptions
    @OptionGroup(title: "Output") package var show: OutputFlags

    package init() {}
}

/// Options of a command that downloads in its own process.
package struct RunOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")], parsing: .unconditional,
        help: ArgumentHelp("Maximum number of simultaneous files.", valueName: "n"))
    package var parallel = 3

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number of simultaneous connections to one host name.", valueName: "n"))
    package var hostConnections: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Maximum number of simultaneous connections to all hosts of one domain, such as example.co.uk.",
            valueName: "n"))
    package var domainConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Minimum time between the starts of two requests to one host, as in 500ms.", valueName: "time"))
    package var hostDelay: String?

    @Flag(help: "Use your own files even if they are group-writable, in a directory shared with a group.")
    package var sharedGroup = false

    /// Fails at the first refused connection, as curl and wget do, for scripts that check whether a server is running.
    @Flag(help: .hidden)
    package var failWhenRefused = false

    package init() {}
}

/// The record of the outcome of each file of `ferry get`.
package struct OutcomeOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            """
            Append one JSON line for each ended file; with the same file and list, a later run continues. - is standard \
            output.
            """, valueName: "file"), completion: .file())
    package var results: String?

    @Flag(help: "Exit with 0 even if files have failed; needs --results, which says which.")
    package var allowFailures = false

    package init() {}
}

/// The files that a command downloads, and their destination.
package struct FileOptions: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "URLs, part files and Metalink documents; for ferry get also directories with part files to resume.",
            valueName: "url"), completion: .file())
    package var items: [String] = []

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            """
            Output path, or s3://BUCKET/KEY; with ferry get, - is standard output. Needs exactly one URL.
            """, valueName: "file"),
        completion: .file())
    package var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir"), .customShort("P")],
        help: ArgumentHelp(
            """
            The target directory; created if missing (default: the current one; for ferry add: the daemon's). For ferry get \
            also s3://BUCKET/PREFIX/.
            """,
            valueName: "dir"), completion: .directory)
    package var directory: String?

    @Option(
        help: ArgumentHelp(
            "The directory where files are until they are uploaded to s3:// (default: below Ferry's state directory).",
            valueName: "dir"), completion: .directory)
    package var staging: String?

    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp(
            "A file with a list of URLs, or a Metalink document; - is standard input.", valueName: "list"),
        completion: .file())
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

    @Option(
        help: ArgumentHelp(
            """
            Path of each file below the directory, with the fields {host}, {path}, {name}, {stem}, {ext}, {line}, {n}, \
            {url-sha256}, with --dedup {sha256} of the content, and their first digits, as in {url-sha256:2}.
            """,
            valueName: "template"))
    package var name: String?

    @Flag(help: "Store each content once, named by its SHA-256; needs --results, which says what is where.")
    package var dedup = false

    @Option(
        help: ArgumentHelp("Only the entries of a list whose host is in part K of N.", valueName: "k/n"))
    package var shard: String?

    @Flag(help: "Let lists put files elsewhere: out= and dir= may be absolute, with .. and hidden names.")
    package var trustList = false

    @Option(
        help: ArgumentHelp(
            "Request the failed entries of a results file again, in place of URLs and lists.", valueName: "file"),
        completion: .file())
    package var retryFrom: String?

    @Option(
        help: ArgumentHelp(
            "With --retry-from: only failures for these reasons or HTTP statuses, as in refused,timeout,503.",
            valueName: "words"))
    package var only: String?

    @Option(
        help: ArgumentHelp(
            "If the file name exists: rename, overwrite, fail or skip (default: rename).", valueName: "rule"),
        completion: .list(["rename", "overwrite", "fail", "skip"]))
    package var onConflict: String?

    @OptionGroup(visibility: .hidden) var familiar: FamiliarOptions

    package init() {}
}

/// The output options of a command.
package struct OutputOptions: Sendable, Hashable {
    /// The content of standard output.
    package enum Result: Sendable, Hashable {
        /// The paths of finished files, each terminated by this byte: a line feed or NUL.
        case paths(end: UInt8)
        case json
        /// The bytes of the downloaded file, and no other output.
        case body
        /// The lines of `--results -`.
        case results
        case nothing
    }

    package var result: Result
    package var detail: EventText.Detail
    /// Whether progress is shown on standard error, as bars or plain lines.
    package var showsProgress: Bool

    package init(result: Result = .paths(end: 0x0A), detail: EventText.Detail = .normal, showsProgress: Bool = true) {
        self.result = result
        self.detail = detail
        self.showsProgress = showsProgress
    }
}

/// The amount and form of a command's output.
package struct OutputFlags: ParsableArguments, Sendable {
    @Flag(help: "Write events to standard output as JSON, one per line.")
    package var json = false

    @Flag(name: .customLong("print0"), help: "End each finished path with NUL instead of a newline.")
    package var print0 = false

    @Flag(help: "Print no paths of finished files.")
    package var noPaths = false

    @Flag(help: "Show no progress.")
    package var noProgress = false

    @Flag(name: [.short, .long, .customShort("s")], help: "Print errors only; finished paths are still printed.")
    package var quiet = false

    @Flag(name: .shortAndLong, help: "Report every decision with its reason.")
    package var verbose = false

    package init() {}
}
