import ArgumentParser
import FerryServer
import FerryTerminal
import Foundation

/// `ferry status`: shows whether the daemon runs, and what it does.
struct StatusCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the daemon runs, its addresses, downloads and speed.",
        discussion: "Exits with 0 if it runs, otherwise 11.")

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        let control = DaemonControl(place, environment: ProcessInfo.processInfo.environment)
        return await Program.remote(Self.word, json: flags.json) {
            try await $0.status(log: place.log, isService: control.isService)
        }
    }
}
