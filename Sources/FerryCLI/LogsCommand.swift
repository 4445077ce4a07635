import ArgumentParser
import FerryServer
import FerryTerminal
import Foundation

/// `ferry logs`: shows the daemon's log.
struct LogsCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Show the log of the daemon that ferry add has started.")

    @Flag(name: .shortAndLong, help: "Go on with each new line, until Ctrl-C.")
    var follow = false

    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("The number of last lines to show.", valueName: "n"))
    var lines = 20

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        let control = DaemonControl(place, environment: ProcessInfo.processInfo.environment)
        return await Program.remote(Self.word, json: false) { run in
            try await run.logs(isService: control.isService) { write in
                try await LogReader(place.log).read(last: lines, follows: follow, write)
            }
        }
    }
}
