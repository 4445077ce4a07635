package import ArgumentParser
import FerryTerminal

extension CommandGroup {
    /// The commands of a fleet.
    package static var fleet: CommandGroup {
        CommandGroup(name: "Many machines", subcommands: [FleetCommand.self, WorkCommand.self])
    }
}

/// `ferry fleet`: manages lists that many machines download.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Let many machines download one list, which a PostgreSQL database holds.",
        discussion: """
            init makes the tables; add stores a list; ferry work, on as many machines as wanted, downloads it.

            EXAMPLES:
              ferry fleet init postgres://ferry@db/fleet
              ferry fleet host postgres://ferry@db/fleet '*' --rate 5/s --connections 4
              ferry fleet add postgres://ferry@db/fleet urls.txt --into /shared/data
              ferry work postgres://ferry@db/fleet -j 64
              ferry fleet status postgres://ferry@db/fleet
            """,
        subcommands: [
            FleetInitCommand.self, FleetAddCommand.self, FleetStatusCommand.self, FleetWorkersCommand.self,
            FleetResultsCommand.self, FleetHostCommand.self, FleetRetryCommand.self, FleetPauseCommand.self,
            FleetResumeCommand.self, FleetDrainCommand.self, FleetPriorityCommand.self, FleetRemoveCommand.self,
        ])
}

struct FleetInitCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make the fleet's tables in the database, or bring them up to date.")
    @OptionGroup var arguments: FleetInitArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.initialize(arguments) }
}

struct FleetAddCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Store a list in the database as a batch.",
        usage: """
            ferry fleet add <postgres-url> <list> --into <dir> [--batch <name>]
                            [--part-rows <n>] [--priority <n>]
            """)
    @OptionGroup var arguments: FleetAddArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.add(arguments) }
}

struct FleetStatusCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the progress of each batch.")
    @OptionGroup var arguments: FleetStatusArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.status(arguments) }
}

struct FleetWorkersCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Show the workers, and how long each has been silent.")
    @OptionGroup var arguments: FleetWorkersArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.workers(arguments) }
}

struct FleetResultsCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Write the results as JSON, one file per line.")
    @OptionGroup var arguments: FleetResultsArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.results(arguments) }
}

struct FleetRetryCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Request failed files again.")
    @OptionGroup var arguments: FleetRetryArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.retry(arguments) }
}

struct FleetPauseCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Start no more files; running ones end.")
    @OptionGroup var arguments: FleetStateArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.pause(arguments) }
}

struct FleetResumeCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Go on after pause or drain.")
    @OptionGroup var arguments: FleetStateArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.resume(arguments) }
}

struct FleetDrainCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Give workers no more rows; the rows they hold are fetched.")
    @OptionGroup var arguments: FleetStateArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.drain(arguments) }
}

struct FleetPriorityCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "priority", abstract: "Let workers take rows of a batch before or after others.")
    @OptionGroup var arguments: FleetPriorityArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.prioritize(arguments) }
}

struct FleetRemoveCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a batch with its rows and results from the database, not its files.",
        usage: """
            ferry fleet remove <postgres-url> [--batch <name>]
                               [--done-for <duration>]
            """)
    @OptionGroup var arguments: FleetRemoveArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.remove(arguments) }
}

struct FleetHostCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Set the budget of a host for the whole fleet.",
        usage: """
            ferry fleet host <postgres-url> <host> [--rate <rate>]
                             [--connections <n>] [--unlimited]
            """)
    @OptionGroup var arguments: FleetHostArguments
    func act() async -> FerryTerminal.ExitCode { await FleetProgram.host(arguments) }
}
