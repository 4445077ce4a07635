import ArgumentParser
import FerryTerminal

/// `ferry work`: one worker of a fleet.
struct WorkCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Download the rows of a fleet's lists; see ferry fleet.",
        discussion: """
            Takes leases of 500 rows, and reports each file to the database. While the database is away, what is leased \
            goes on. After a kill the same command goes on with the half files of this machine; on a shared directory \
            another worker does when the lease has ended.

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
