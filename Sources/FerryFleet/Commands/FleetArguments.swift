package import ArgumentParser
package import FerryTerminal

/// The database of a fleet.
package struct FleetAddress: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp(
            "The PostgreSQL database, as postgres://USER@HOST/NAME; passwords also from PGPASSWORD or .pgpass.",
            valueName: "postgres-url"))
    package var database: String

    package init() {}
}

/// The batches to which a command applies.
package struct FleetBatchOption: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Only this batch (default: all).", valueName: "name"))
    package var batch: String?

    package init() {}
}

/// The arguments of `ferry fleet init`.
package struct FleetInitArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    package init() {}
}

/// The arguments of `ferry fleet add`.
package struct FleetAddArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    @Argument(
        help: ArgumentHelp(
            "A list with one URL per line, as for ferry get -i; - is standard input.", valueName: "list"),
        completion: .file())
    package var list: String

    @Option(
        help: ArgumentHelp(
            "The absolute directory for the files, on every worker: a shared one, or one of each machine.",
            valueName: "dir"), completion: .directory)
    package var into: String

    @Option(help: ArgumentHelp("The name of the batch (default: that of the list).", valueName: "name"))
    package var batch: String?

    @Option(
        help: ArgumentHelp("Rows of a partition of the tables; a multiple of 500.", valueName: "n"))
    package var partRows: Int64 = 5_000_000

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Workers take rows of batches of higher priority first; -1000 to 1000.", valueName: "n"))
    package var priority = 0

    package init() {}
}

/// The arguments of `ferry fleet status`.
package struct FleetStatusArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress
    @OptionGroup package var batch: FleetBatchOption

    @Flag(help: "Write results as lines of JSON.")
    package var json = false

    package init() {}
}

/// The arguments of `ferry fleet workers`.
package struct FleetWorkersArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    @Flag(help: "Write results as lines of JSON.")
    package var json = false

    package init() {}
}

/// The arguments of `ferry fleet results`.
package struct FleetResultsArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress
    @OptionGroup package var batch: FleetBatchOption

    @Flag(help: "Only files that are not complete.")
    package var failed = false

    package init() {}
}

/// The arguments of `ferry fleet retry`.
package struct FleetRetryArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress
    @OptionGroup package var batch: FleetBatchOption

    @Option(
        help: ArgumentHelp("Only failures for these reasons or HTTP statuses, as in timeout,503.", valueName: "words"))
    package var only: String?

    package init() {}
}

/// The arguments of `ferry fleet pause`, `resume` and `drain`.
package struct FleetStateArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress
    @OptionGroup package var batch: FleetBatchOption

    package init() {}
}

/// The arguments of `ferry fleet remove`.
package struct FleetRemoveArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    @Option(help: ArgumentHelp("The batch to remove.", valueName: "name"))
    package var batch: String?

    @Option(
        help: ArgumentHelp(
            "All batches whose last row ended at least this long ago: 30d, 12h.", valueName: "duration"))
    package var doneFor: String?

    package init() {}
}

/// The arguments of `ferry fleet priority`.
package struct FleetPriorityArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    @Option(help: ArgumentHelp("The batch.", valueName: "name"))
    package var batch: String

    @Option(
        name: .customLong("to"), parsing: .unconditional,
        help: ArgumentHelp("Its priority, from -1000 to 1000.", valueName: "n"))
    package var priority: Int

    package init() {}
}

/// The arguments of `ferry fleet host`.
package struct FleetHostArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    @Argument(
        help: ArgumentHelp(
            "A host, a domain with all hosts in it, or '*' for each host without a budget of its own.",
            valueName: "host"))
    package var host: String

    @Option(help: ArgumentHelp("Files that start per second, over the whole fleet: 5/s, 0.5.", valueName: "rate"))
    package var rate: String?

    @Option(help: ArgumentHelp("Files at a time, over the whole fleet.", valueName: "n"))
    package var connections: Int?

    @Flag(help: "Remove the budget.")
    package var unlimited = false

    package init() {}
}

/// The arguments of `ferry work`.
package struct WorkArguments: ParsableArguments, Sendable {
    @OptionGroup package var address: FleetAddress

    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")],
        help: ArgumentHelp("Maximum number of simultaneous files.", valueName: "n"))
    package var parallel = 32

    @Flag(help: "End when no row of any batch is left.")
    package var untilDone = false

    @Flag(help: "Exit with 0 even if files have failed; the results say which.")
    package var allowFailures = false

    @Option(
        help: ArgumentHelp(
            "The directory of this worker's list and identity (default: one for each database).", valueName: "dir"),
        completion: .directory)
    package var state: String?

    @Option(help: ArgumentHelp("The name of this worker in the database (default: the machine's).", valueName: "name"))
    package var name: String?

    @Option(
        help: ArgumentHelp(
            "For how long leases outlast the last heartbeat; then other workers take them.", valueName: "duration"))
    package var lease = "15m"

    @Option(help: ArgumentHelp("How much work is taken ahead, at this worker's speed.", valueName: "duration"))
    package var ahead = "60s"

    @Option(help: ArgumentHelp("Rate limit per second: 500K, 5M, 1MiB; for all files together.", valueName: "rate"))
    package var limitRate: String?

    @Option(
        help: ArgumentHelp(
            "Retries of a file without progress; a server that fails to answer this often is given up for ten minutes.",
            valueName: "n|inf"))
    package var retries = "4"

    @OptionGroup package var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "The only server that headers which may be secret are sent to: a host, or http://HOST:PORT.",
            valueName: "server"))
    package var headerServer: String?

    @Option(
        help: ArgumentHelp(
            "The only directory or s3:// prefix below which batches may put files here (default: the working directory).",
            valueName: "dir"), completion: .directory)
    package var into: String?

    @Flag(help: "Connect to private, local and metadata addresses too.")
    package var allowPrivate = false

    @Flag(name: .customLong("allow-s3-sources"), help: "Fetch objects of stores too, with the keys of this worker.")
    package var allowS3Sources = false

    @Flag(help: "Do not sync files to the disk: a power cut may lose finished files.")
    package var noFsync = false

    @Option(
        help: ArgumentHelp(
            """
            Serve Prometheus' metrics on this port of 127.0.0.1 and ::1, to every user of the machine who has the token in \
            metrics-token in the state directory; 0 is any free port.
            """, valueName: "n"))
    package var metricsPort: Int?

    @Flag(name: .shortAndLong, help: "Report each failure.")
    package var verbose = false

    package init() {}
}
