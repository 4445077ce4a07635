import ArgumentParser
import FerryTerminal

/// `ferry plan`: shows what a download would do.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a download would do, without writing anything: name, size, ranges, resumability.",
        discussion: """
            Takes the arguments of ferry get, but no directories. For \
            s3://BUCKET/PREFIX/ it lists the objects. EXIT CODES: see ferry get --help.
            """)

    @OptionGroup var options: GetOptions
}
