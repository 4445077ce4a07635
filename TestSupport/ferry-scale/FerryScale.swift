import ArgumentParser

/// The executable of the scale benchmark.
@main
struct FerryScale: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ferry-scale",
        abstract: "What many downloads cost. Each command prints one line of JSON; sizes are in bytes.",
        subcommands: [
            AddCommand.self, OpenCommand.self, IdleCommand.self, NextCommand.self, TurnsCommand.self, RunCommand.self,
            RateCommand.self, ObserveCommand.self,
        ])
}
