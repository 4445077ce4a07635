import ArgumentParser
import FerryServer
import FerryTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `ferry status`: shows whether the daemon runs, and what it is doing.
struct StatusCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the daemon runs, its addresses, downloads and speed.",
        discussion: "Exits with 0 if it runs, otherwise 11.")

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        let control = DaemonControl(place, environment: ProcessInfo.processInfo.environment)
        return await Program.remote(Self.word, json: flags.json) {
            try await $0.status(log: place.log, hasLog: control.logsToFile, isService: control.isService)
        }
    }
}

/// `ferry stop`: ends the daemon.
struct StopCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop the daemon; its downloads continue at the next start.",
        discussion: "Returns once everything is saved and the daemon has exited.")

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let control = DaemonControl(.current(), environment: ProcessInfo.processInfo.environment)
        return await Program.remote(Self.word, json: flags.json) {
            try await $0.stop(holder: control.holder, isService: control.isService, end: control.end)
        }
    }
}

/// `ferry logs`: shows the daemon's log.
struct LogsCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Show the log of the daemon that ferry add has started.")

    @Flag(name: .shortAndLong, help: "Print each new line until Ctrl-C.")
    var follow = false

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("The number of lines to show, from the end of the log.", valueName: "n"))
    var lines = 20

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        let control = DaemonControl(place, environment: ProcessInfo.processInfo.environment)
        return await Program.remote(Self.word, json: false) { run in
            try await run.logs(hasLog: control.logsToFile, isService: control.isService) { write in
                try await LogReader(place.log).read(last: lines, follows: follow, write)
            }
        }
    }
}

/// The starter process of a confined daemon; not for direct use.
struct StartCommandsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: StarterProcess.command, abstract: "Start commands for a confined daemon.", shouldDisplay: false)

    func run() throws {
        guard StarterProcess.run() else { throw ValidationError("ferry serve --confine starts this command itself.") }
    }
}
