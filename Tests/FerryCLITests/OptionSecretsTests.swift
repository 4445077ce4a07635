import FerryTerminal
import Foundation
import Testing

/// The options of all commands, as the program itself lists them.
@Suite("Secrets among the options of all commands", .timeLimit(.minutes(30)))
struct OptionSecretsTests {
    private struct Help: Decodable {
        struct Command: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable {
                    var kind: String
                    var name: String
                }
                var kind: String
                var names: [Name]?
            }
            var commandName: String
            var arguments: [Argument]?
            var subcommands: [Command]?
        }
        var command: Command
    }

    /// The long options with values, each with the words of its command.
    private func options(_ command: Help.Command, _ path: [String] = []) -> [(path: [String], name: String)] {
        let own = (command.arguments ?? []).filter { $0.kind == "option" }.flatMap { argument in
            (argument.names ?? []).filter { $0.kind == "long" }.map { (path, $0.name) }
        }
        return own + (command.subcommands ?? []).flatMap { options($0, path + [$0.commandName]) }
    }

    @Test("ArgumentSecrets: every option of any command is overwritten whose name says that its value is secret")
    func names() async throws {
        let outcome = try await FerryProcess.run(["--experimental-dump-help"], in: try Workplace())
        let options = options(try JSONDecoder().decode(Help.self, from: Data(outcome.text.utf8)).command)
        let words = ["passwd", "password", "user", "secret", "header", "cookie", "proxy", "token", "bearer"]
        // The name of a program.
        let open: Set = ["user-agent"]
        var count = 0
        for (path, name) in options where !open.contains(name) {
            guard name.split(separator: "-").contains(where: { words.contains(String($0)) }) else { continue }
            count += 1
            for words in [["--\(name)", "u:p@h"], ["--\(name)=u:p@h"]] {
                let ranges = ArgumentSecrets.ranges(in: (path + words).map { Array($0.utf8) })
                #expect(ranges.last?.isEmpty == false, "\(path) \(words)")
            }
        }
        #expect(options.count > 100 && count > 10, "\(options.count), \(count)")
    }
}
