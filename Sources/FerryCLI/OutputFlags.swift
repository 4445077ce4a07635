import ArgumentParser
import FerryTerminal

/// Output options.
struct OutputFlags: ParsableArguments {
    @Flag(help: "Write events to standard output as JSON, one per line.")
    var json = false

    @Flag(name: .customLong("print0"), help: "End each finished path with NUL instead of a newline.")
    var print0 = false

    @Flag(help: "Show no progress.")
    var noProgress = false

    @Flag(name: .shortAndLong, help: "Print errors only; finished paths are still printed.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Report every decision with its reason.")
    var verbose = false

    func fill(_ options: inout GetOptions) {
        options.json = json
        options.print0 = print0
        options.noProgress = noProgress
        options.quiet = quiet
        options.verbose = verbose
    }
}
