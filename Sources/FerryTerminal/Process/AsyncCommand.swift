package import ArgumentParser

/// An asynchronous command, which runs on file threads and returns an exit code.
package protocol AsyncCommand: ParsableCommand {
    /// Whether the command runs until it is stopped. Such a command is refused if the system allows only a few threads.
    static var isService: Bool { get }

    func act() async -> ExitCode
}

extension AsyncCommand {
    package static var isService: Bool { false }

    /// The name of the command.
    package static var word: String { configuration.commandName ?? "" }
}
