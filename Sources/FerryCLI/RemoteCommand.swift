import ArgumentParser
import FerryTerminal

/// An asynchronous command with an exit code.
protocol RemoteCommand: ParsableCommand {
    func act() async -> FerryTerminal.ExitCode
}

extension RemoteCommand {
    static var word: String { configuration.commandName ?? "" }
}
