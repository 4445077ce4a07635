import ArgumentParser
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
            """,
        version: "ferry \(Program.version)",
        subcommands: [GetCommand.self, PlanCommand.self, ServeCommand.self, ServiceCommand.self])

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
            case let service as ServiceCommand: return service.act()
            case var other:
                try other.run()
                return .done
            }
        } catch {
            if exitCode(for: error) == .success {
                _ = StandardStreams.write(Array((fullMessage(for: error) + "\n").utf8), to: 1)
                return .done
            }
            let command = arguments.first { !$0.hasPrefix("-") } ?? ""
            return Program.usage(
                message(for: error), command: ["get", "plan", "serve", "service"].contains(command) ? command : "")
        }
    }
}
