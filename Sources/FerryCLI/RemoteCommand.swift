import ArgumentParser
import FerryTerminal

/// A command whose work is asynchronous, and ends with one of our exit codes.
protocol RemoteCommand: ParsableCommand {
    func act() async -> FerryTerminal.ExitCode
}

extension RemoteCommand {
    static var word: String { configuration.commandName ?? "" }
}
