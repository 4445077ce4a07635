import ArgumentParser
import FerryServer

/// What a confined daemon begins for itself: not for people.
struct StartCommandsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: StarterProcess.command, abstract: "Start commands for a confined daemon.", shouldDisplay: false)

    func run() throws {
        guard StarterProcess.run() else { throw ValidationError("ferry serve --confine begins this by itself.") }
    }
}
