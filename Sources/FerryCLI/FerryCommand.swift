import ArgumentParser
import FerryCore
import FerryTerminal

/// `ferry`: the words of the command line, and what they lead to.
struct FerryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ferry",
        abstract: "Downloads large files, and goes on from where it was.",
        discussion: """
            Run the same command again after an interruption of any kind: what is there is kept.

            EXAMPLES:
              ferry get https://example.com/large.iso
              ferry get -i list.txt -d downloads -j 4
              ferry plan https://example.com/large.iso
              ferry add https://example.com/large.iso
              ferry watch
            """,
        version: "ferry \(Program.version)",
        subcommands: [StartCommandsCommand.self],
        groupedSubcommands: [
            CommandGroup(name: "Here and now", subcommands: [GetCommand.self, PlanCommand.self]),
            CommandGroup(
                name: "In the daemon",
                subcommands: [
                    AddCommand.self, ListCommand.self, ShowCommand.self, WatchCommand.self, PauseCommand.self,
                    ResumeCommand.self, CancelCommand.self, RemoveCommand.self, ClearCommand.self, MoveCommand.self,
                    SetCommand.self, RelocateCommand.self, WebCommand.self,
                ]),
            CommandGroup(
                name: "The daemon and this machine",
                subcommands: [ServeCommand.self, ServiceCommand.self, DoctorCommand.self]),
        ])

    /// Reads the arguments and does what they say; the parser's own exit codes become ours.
    static func main(arguments: [String]) async -> FerryTerminal.ExitCode {
        // Going through the root costs more than a small file's request; it is asked for its texts when something is wrong.
        if arguments.first == "get", let get = try? GetCommand.parse(Array(arguments.dropFirst())) {
            return await Program.get(get.options)
        }
        do {
            switch try parseAsRoot(arguments) {
            case let get as GetCommand: return await Program.get(get.options)
            case let plan as PlanCommand: return await Program.plan(plan.options)
            case let serve as ServeCommand: return await serve.serve()
            case let service as ServiceCommand: return await service.act()
            case let remote as any RemoteCommand: return await remote.act()
            case var other:
                try other.run()
                return .done
            }
        } catch {
            if exitCode(for: error) == .success {
                _ = StandardStreams.write(Array((fullMessage(for: error) + "\n").utf8), to: 1)
                return .done
            }
            let command = arguments.first { !$0.utf8.hasPrefix("-") } ?? ""
            let known = configuration.subcommands.first { $0.configuration.commandName == command }
            // Only those of remote control end with a failure in JSON; get has records of its own.
            // allow(bytes): a list of words.
            if known is any RemoteCommand.Type, arguments.contains("--json") {
                return Program.usageInJSON(message(for: error), command: command)
            }
            return Program.usage(message(for: error), command: known == nil ? "" : command)
        }
    }
}
