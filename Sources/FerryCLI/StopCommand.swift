import ArgumentParser
import FerryServer
import FerryTerminal
import Foundation

/// `ferry stop`: ends the daemon.
struct StopCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop the daemon; its downloads go on at the next start.",
        discussion: "Returns once everything is saved and the daemon has left.")

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let control = DaemonControl(.current(), environment: ProcessInfo.processInfo.environment)
        return await Program.remote(Self.word, json: flags.json) {
            try await $0.stop(holder: control.holder, isService: control.isService, end: control.end)
        }
    }
}
