import ArgumentParser
import FerryTerminal

/// `ferry work`: one worker of a fleet.
struct WorkCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Download the rows of a fleet's lists; see ferry fleet.",
        discussion: """
            Takes leases of 500 rows, and reports each file to the database. While the database is unreachable, leased \
            rows continue. After a kill the same command resumes this machine's partial files; in a shared directory \
            another worker does once the lease has ended.

            EXAMPLES:
              ferry work postgres://ferry@db/fleet -j 64
              ferry work postgres://ferry@db/fleet --until-done --state /var/lib/ferry/work

            EXIT CODES: see ferry get --help.
            """)

    static var isService: Bool { true }

    @OptionGroup var arguments: WorkArguments

    func act() async -> FerryTerminal.ExitCode {
        guard let standard = try? GetOptions.parse([]) else { return .internal }
        return await FleetProgram.work(arguments, standard: standard)
    }
}
