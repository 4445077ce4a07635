import ArgumentParser
import Ferry
import FerryCore
import FerryTerminal

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// `ferry`: the root command.
struct FerryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ferry",
        abstract: "Downloads large files and resumes interrupted downloads.",
        discussion: """
            Run the same command again after an interruption; downloaded data is kept.

            EXAMPLES:
              ferry get https://example.com/large.iso
              ferry get -i list.txt -d downloads -j 4
              ferry plan https://example.com/large.iso
              ferry add https://example.com/large.iso
              ferry watch
            """,
        version: "ferry \(Program.version)",
        subcommands: [StartCommandsCommand.self],
        groupedSubcommands: ([
            CommandGroup(
                name: "Direct downloads",
                subcommands: [GetCommand.self, PlanCommand.self, CurlCommand.self, WgetCommand.self]),
            CommandGroup(
                name: "Sets of files",
                subcommands: [SyncCommand.self, VerifyCommand.self, RepairCommand.self, SetsCommand.self]),
            CommandGroup(
                name: "Background downloads",
                subcommands: [
                    AddCommand.self, ListCommand.self, ShowCommand.self, WatchCommand.self, PauseCommand.self,
                    ResumeCommand.self, CancelCommand.self, RestartCommand.self, RemoveCommand.self, ClearCommand.self,
                    MoveCommand.self,
                    SetCommand.self, RelocateCommand.self, WebCommand.self,
                ]),
        ] + Doors.commands + [
            CommandGroup(
                name: "Daemon and system",
                subcommands: [
                    ServeCommand.self, StatusCommand.self, StopCommand.self, LogsCommand.self, ServiceCommand.self,
                    DoctorCommand.self,
                ])
        ]).joinedByName)

    /// Runs the command that the program's name or its arguments select. Returns the exit status.
    static func main(program: String, arguments: [String]) async -> Int32 {
        if let (emulated, words) = Doors.programs.selected(by: program, arguments) {
            if let shortage = ThreadLimit.shortage(isService: false) {
                return Program.usage(UsageError(shortage), command: "", json: false).rawValue
            }
            return await onFileThreads { await emulated.run(words) }
        }
        let code = await main(arguments: arguments)
        return PastedExitStatus.of(code, after: arguments.first ?? "")
    }

    /// Parses the arguments and runs the command. All commands except the daemon run on file threads, because they read
    /// lists, the terminal and journals. Exit codes of the parser are mapped to Ferry's.
    static func main(arguments given: [String]) async -> FerryTerminal.ExitCode {
        if let help = CommandAdvice.pastedHelp(given) {
            _ = StandardStreams.write(Array(help.utf8), to: 1)
            return .done
        }
        let alone = parseAlone(given)
        // Errors in a translated command line refer to the help of the original command.
        let pasted = given.first.flatMap { CommandAdvice.isPasted($0) ? $0 : nil }
        let arguments: [String]
        // allow(bytes): `given` is a list of words, not a text.
        let json = given.contains("--json")
        do throws(UsageError) {
            arguments =
                alone != nil
                ? given
                : try CommandAdvice.complete(
                    Doors.arguments.reduce(given) { $1.command($0) }, commands: commandNames, isShown: isatty(1) == 1)
        } catch { return Program.usage(error, command: pasted ?? "", json: json) }
        do {
            let command = try alone ?? parseAsRoot(arguments)
            let isService =
                command is ServeCommand || (command as? any AsyncCommand).map { type(of: $0).isService } ?? false
            if let shortage = ThreadLimit.shortage(isService: isService) {
                return Program.usage(UsageError(shortage), command: "", json: json)
            }
            return try await run(command, words: Array(arguments.dropFirst()))
        } catch {
            if exitCode(for: error) == .success {
                _ = StandardStreams.write(Array(help(of: error).utf8), to: 1)
                return .done
            }
            let command = arguments.first { !$0.utf8.hasPrefix("-") } ?? ""
            let known = configuration.subcommands.first { $0.configuration.commandName == command }
            let help = named(arguments).helpMessage(columns: 400)
            let usage = UsageError(OptionAdvice.improve(message(for: error), help: help))
            return Program.usage(usage, command: pasted ?? (known == nil ? "" : command), json: json)
        }
    }

    /// Returns the command that the first words name, such as `fleet add`; `ferry get` if they name none.
    private static func named(_ words: [String]) -> any ParsableCommand.Type {
        var command: any ParsableCommand.Type = FerryCommand.self
        for word in words {
            guard let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
            else { break }
            command = next
        }
        return command == FerryCommand.self ? GetCommand.self : command
    }

    /// Parses a command that scripts run for each file, without the other commands; `nil` if it is another command or its
    /// arguments are invalid. Parsing from the root takes longer than requesting a small file.
    private static func parseAlone(_ words: [String]) -> (any ParsableCommand)? {
        let rest = Array(words.dropFirst())
        return switch words.first {
        case "get": try? GetCommand.parse(rest)
        case "add": try? AddCommand.parse(rest)
        default: nil
        }
    }

    private static func run(
        _ command: any ParsableCommand, words: [String]
    ) async throws -> FerryTerminal.ExitCode {
        switch command {
        case let get as GetCommand: return await onFileThreads { await Program.get(get.options, words: words) }
        case let plan as PlanCommand: return await onFileThreads { await Program.plan(plan.options) }
        case let sync as SyncCommand: return await onFileThreads { await sync.act() }
        case let verify as VerifyCommand: return await onFileThreads { await verify.act() }
        case let repair as RepairCommand: return await onFileThreads { await repair.act() }
        case let serve as ServeCommand: return await serve.serve()
        case let service as ServiceCommand: return await service.act()
        case let remote as any AsyncCommand: return await onFileThreads { await remote.act() }
        case var other:
            try other.run()
            return .done
        }
    }

    /// Returns the requested text, help or version, in the user's language.
    private static func help(of error: any Error) -> String {
        if Language.current == .english { return fullMessage(for: error) + "\n" }
        return HelpText(
            fullMessage(for: error, columns: 100_000), columns: TerminalSize.current(1).columns,
            chinese: [.commands] + Doors.help
        ).text
    }

    private static let commandNames = configuration.subcommands.compactMap { $0.configuration.commandName }
}
