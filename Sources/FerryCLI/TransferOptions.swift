import ArgumentParser
import FerryTerminal

/// Options for size, speed and time limits.
struct TransferOptions: ParsableArguments {
    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")],
        help: ArgumentHelp("Maximum number of simultaneous files.", valueName: "n"))
    var parallel = 3

    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("connections")],
        help: ArgumentHelp(
            "Maximum connections per file; the best number is determined automatically.", valueName: "n"))
    var connections = 16

    @Option(
        help: ArgumentHelp("Rate limit for all files together, per second: 500K, 5M, 1MiB.", valueName: "rate"))
    var limitRate: String?

    @Option(help: ArgumentHelp("Maximum file size; larger files are refused.", valueName: "size"))
    var maxSize: String?

    @Option(
        help: ArgumentHelp(
            "Stop a connection that receives less than 1 KB in this time; also the response timeout (default: 60).",
            valueName: "seconds"))
    var stallTimeout: String?

    @Option(
        help: ArgumentHelp(
            "Consecutive retries without progress before giving up (default: 10).", valueName: "n|inf"))
    var retries: String?

    @Option(help: ArgumentHelp("Free disk space to keep (default: 256MB).", valueName: "size"))
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
