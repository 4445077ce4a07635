package import ArgumentParser

/// The arguments of `ferry add`.
package struct AddOptions: ParsableArguments, Sendable {
    @OptionGroup package var files: FileOptions

    @Flag(help: "Add the downloads paused.")
    package var paused = false

    @Option(
        help: ArgumentHelp(
            "Start time: 22:30, 10pm, tomorrow 8:00, 2026-12-24 22:30, 2026-12-24T22:30:00Z, +2h.", valueName: "time"))
    package var at: String?

    @Option(help: ArgumentHelp("Priority: low, normal, high or a number.", valueName: "priority"))
    package var priority: String?

    @Option(
        help: ArgumentHelp(
            "Whether metered networks may be used (default: the daemon's setting).", valueName: "on|off"))
    package var metered: String?

    @Option(help: ArgumentHelp("A label.", valueName: "text"))
    package var label: String?

    @Flag(help: "Add the download even if its URL is listed.")
    package var again = false

    @OptionGroup(title: "Request") package var request: RequestOptions
    @OptionGroup(title: "Trust and conflicts") package var trust: TrustOptions

    package init() {}
}
