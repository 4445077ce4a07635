import ArgumentParser

/// The amount and form of a command's output.
package struct OutputFlags: ParsableArguments, Sendable {
    @Flag(help: "Write events to standard output as JSON, one per line.")
    package var json = false

    @Flag(name: .customLong("print0"), help: "End each finished path with NUL instead of a newline.")
    package var print0 = false

    @Flag(help: "Show no progress.")
    package var noProgress = false

    @Flag(name: [.short, .long, .customShort("s")], help: "Print errors only; finished paths are still printed.")
    package var quiet = false

    @Flag(name: .shortAndLong, help: "Report every decision with its reason.")
    package var verbose = false

    package init() {}
}
