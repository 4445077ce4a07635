import ArgumentParser
import FerryTerminal

/// Options about how much, how fast and how long.
struct TransferOptions: ParsableArguments {
    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")],
        help: ArgumentHelp("Files at a time.", valueName: "n"))
    var parallel = 3

    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("connections")],
        help: ArgumentHelp("The most connections for a file; how many pay is found out.", valueName: "n"))
    var connections = 16

    @Option(help: ArgumentHelp("Bytes per second at most, for all files together: 500K, 5M, 1MiB.", valueName: "rate"))
    var limitRate: String?

    @Option(help: ArgumentHelp("Refuse files larger than this.", valueName: "size"))
    var maxSize: String?

    @Option(
        help: ArgumentHelp(
            "Stop a connection that brings less than 1 KB in this time; also the longest wait for an answer (default: 60).",
            valueName: "seconds"))
    var stallTimeout: String?

    @Option(
        help: ArgumentHelp(
            "Try again so many times in a row when nothing comes, then give up (default: 10).", valueName: "n|inf"))
    var retries: String?

    @Option(help: ArgumentHelp("Leave so much space on the disk free (default: 256MB).", valueName: "size"))
    var minFree: String?

    func fill(_ options: inout GetOptions) {
        options.parallel = parallel
        options.connections = connections
        options.limitRate = limitRate
        options.maxSize = maxSize
        options.stallTimeout = stallTimeout
        options.retries = retries
        options.minFree = minFree
    }
}
