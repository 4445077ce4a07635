import ArgumentParser
import FerryTerminal

/// Options about what is said where.
struct OutputFlags: ParsableArguments {
    @Flag(help: "Write one event a line, as JSON, to standard output.")
    var json = false

    @Flag(name: .customLong("print0"), help: "End each finished path with NUL instead of a line feed.")
    var print0 = false

    @Flag(help: "Show no progress.")
    var noProgress = false

    @Flag(name: .shortAndLong, help: "Say nothing but errors; finished paths are still printed.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say every decision with its reason.")
    var verbose = false

    func fill(_ options: inout GetOptions) {
        options.json = json
        options.print0 = print0
        options.noProgress = noProgress
        options.quiet = quiet
        options.verbose = verbose
    }
}
