import ArgumentParser
import FerryServer

/// The starter process of a confined daemon; not for direct use.
struct StartCommandsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: StarterProcess.command, abstract: "Start commands for a confined daemon.", shouldDisplay: false)

    func run() throws {
        guard StarterProcess.run() else { throw ValidationError("ferry serve --confine begins this by itself.") }
    }
}
