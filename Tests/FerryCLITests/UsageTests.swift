import FerryAria2
import FerryBrowser
import FerryFleet
import FerryGateway
import FerryTerminal
import FerryTesting
import Foundation
import Testing

@Suite("The binary: help and usage errors", .serialized, .timeLimit(.minutes(30))) struct UsageTests {
    private static let help: [ChineseHelp] = [.commands, .aria2, .browser, .fleet, .gateway]

    @Test("ChineseHelp: no line is in two tables")
    func tables() {
        let lines = Self.help.flatMap(\.texts.keys)
        #expect(Set(lines).count == lines.count)
    }

    @Test(
        "ferry --help and --version: the text goes to standard output with exit code 0",
        arguments: [
            (["--help"], "ferry get"), (["get", "--help"], "EXIT CODES"),
            (["plan", "--help"], "Show what a download would do"),
            (["--version"], "ferry 0."), ([], "ferry get"),
        ])
    func help(arguments: [String], part: String) async throws {
        let place = try Workplace()
        let outcome = try await FerryProcess.run(arguments, in: place)
        #expect(outcome.code == 0)
        #expect(outcome.text.contains(part))
        #expect(outcome.error.isEmpty)
    }

    @Test("ferry --help: in Chinese, every text of every command is Chinese, in lines of 80 columns")
    func chinese() async throws {
        let place = try Workplace()
        let wide = ["COLUMNS": "100000"]
        let root = try await FerryProcess.run(["--help"], in: place, environment: wide).text
        let commands = root.split(separator: "\n").filter {
            $0.first == " " && $0.dropFirst(12).hasPrefix("          ")
        }
        .compactMap { $0.split(separator: " ").first.map { [String($0)] } }
        #expect(commands.count > 20)
        #expect(commands.contains(["curl"]) && commands.contains(["wget"]))
        // Programs read the help of aria2c; that of curl and wget is a table.
        for command in [[]] + commands where ![["aria2c"], ["curl"], ["wget"]].contains(command) {
            let english = try await FerryProcess.run(command + ["--help"], in: place, environment: wide).text
            #expect(HelpText(english, columns: 80, chinese: Self.help).untranslated == [])
            let narrow = try await FerryProcess.run(command + ["--help"], in: place, environment: ["COLUMNS": "80"])
                .text
            #expect(narrow.split(separator: "\n").filter { $0.count > 80 } == [], "\(command)")
            let chinese = try await FerryProcess.run(
                command + ["--help"], in: place, environment: ["LC_ALL": "zh_CN.UTF-8"])
            #expect(chinese.code == 0)
            #expect(chinese.text.hasPrefix("概述："))
            // Usages and examples are words that cannot be broken everywhere.
            let explained = chinese.text.split(separator: "\n").filter { $0.contains { $0 >= "\u{4E00}" } }
            #expect(explained.filter { DisplayWidth.columns(of: $0) > 81 } == [])
        }
    }

    @Test("ferry --help: the help of subcommands and of other programs' names has lines of 80 columns as well")
    func narrow() async throws {
        let place = try Workplace()
        func help(_ words: [String]) async throws -> [Substring] {
            let outcome = try await FerryProcess.run(words + ["--help"], in: place, environment: ["COLUMNS": "80"])
            let lines = outcome.text.split(separator: "\n")
            #expect(lines.count > 3 && lines.filter { $0.count > 80 } == [], "\(words)")
            return lines
        }
        let commands = try await help(["fleet"]).drop { !$0.hasPrefix("SUBCOMMANDS") }
            .filter { $0.dropFirst(2).first?.isLowercase == true }.compactMap { $0.split(separator: " ").first }
        #expect(commands.count > 10)
        for command in commands { _ = try await help(["fleet", String(command)]) }
        for program in ["curl", "wget", "aria2c"] { _ = try await help([program]) }
    }

    @Test(
        "ferry: bad input gives one line that points to --help, and exit code 2",
        arguments: [
            ["get"], ["nonsense"], ["get", "--nonsense"], ["get", "example/file"], ["get", "ftp://127.0.0.1/f"],
            ["get", "http://"], ["get", "-i", "no-such-list"],
            ["get", "-o", "x", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"],
            ["get", "--checksum", "sha256:xyz", "http://127.0.0.1:1/a"],
            ["get", "--checksum", "sha256:00", "http://127.0.0.1:1/a"],
            ["get", "--mirror", "http://127.0.0.1:1/c", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"],
            ["get", "-j", "0", "http://127.0.0.1:1/a"], ["get", "-j", "many", "http://127.0.0.1:1/a"], ["get", "-o"],
            ["get", "--limit-rate", "fast", "http://127.0.0.1:1/a"],
            ["get", "--on-conflict", "ask", "http://127.0.0.1:1/a"],
            ["get", "--header", "no colon", "http://127.0.0.1:1/a"], ["get", "gone.part"], ["plan"],
            ["plan", "nothing"], ["plan", "."],
            ["get", "--proxy", "foo", "http://127.0.0.1:1/a"],
            ["get", "--ca-file", "file", "https://127.0.0.1:1/a"], ["ls"], ["help", "nosuch"],
            ["get", "-X", "POST", "http://127.0.0.1:1/a"], ["get", "--data-raw", "a=b", "http://127.0.0.1:1/a"],
            ["curl", "http://127.0.0.1:1/a", "-F", "a=b"], ["get", "-x", "http://p:1", "http://127.0.0.1:1/a"],
        ])
    func usage(arguments: [String]) async throws {
        let place = try Workplace()
        try place.write("", to: "file")
        let outcome = try await FerryProcess.run(arguments, in: place)
        #expect(outcome.code == 2)
        #expect(outcome.output.isEmpty)
        let lines = outcome.error.split(separator: "\n")
        #expect(lines.count == 1, "\(outcome.error)")
        #expect(lines.first?.hasPrefix("ferry: ") == true)
        #expect(lines.first?.hasSuffix(" --help)") == true)
        #expect(place.names == ["file"])
    }

    @Test(
        "ferry: messages are in Chinese if the locale says so",
        arguments: [
            (["get", "nothing"], "ferry: \"nothing\" 既不是这里的文件，也不是网址：网址以 https:// 或 http:// 开头（见 ferry get --help）\n"),
            (["get", "--nonsense"], "ferry: --nonsense：未知的选项（见 ferry get --help）\n"),
            (["gat"], "ferry: 没有命令 \"gat\"：是否指 ferry get？（见 ferry --help）\n"),
            (
                ["get", "--limit-rate", "5X", "http://h/"],
                "ferry: --limit-rate：\"5X\" 不是速度：单位是 K、M、G、T、KB、MB、GB、TB、KiB、MiB、GiB、TiB、B 之一（见 ferry get --help）\n"
            ),
        ])
    func chinese(words: [String], message: String) async throws {
        let outcome = try await FerryProcess.run(words, in: Workplace(), environment: ["LC_ALL": "zh_CN.UTF-8"])
        #expect(outcome.code == 2)
        #expect(outcome.error == message)
    }

    @Test("ferry: a URL alone and a command of curl download the file, and a mistaken command names the right one")
    func familiar() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 1000, seed: 1))
            let place = try Workplace()
            #expect(try await FerryProcess.run([server.url("/f")], in: place).code == 0)
            let pasted = try await FerryProcess.run(
                ["curl", server.url("/f"), "-H", "Accept-Encoding: gzip", "-H", "X-A: 1", "--compressed", "-o", "g"],
                in: place)
            #expect(pasted.code == 0, "\(pasted.error)")
            #expect(place.names.sorted() == ["f", "g"])
            #expect(server.requests.last?.head["X-A"] == "1")
            #expect(server.requests.last?.head["Accept-Encoding"] == "identity")
            for (word, command) in [("ls", "list"), ("gte", "get"), ("rm", "remove")] {
                let error = try await FerryProcess.run([word, "x"], in: place).error
                #expect(
                    error
                        == "ferry: there is no command \"\(word)\": did you mean ferry \(command)? (see ferry --help)\n"
                )
            }
            let cert = try await FerryProcess.run(["get", "--cert", "c.pem", server.url("/f")], in: place).error
            #expect(
                cert == "ferry: --cert: unknown option: client certificates cannot be used (see ferry get --help)\n")
            for words in [["curl", "-I"], ["wget", "--spider"], ["curl", "--nonsense"]] {
                let refused = try await FerryProcess.run(words + [server.url("/f")], in: place)
                #expect(refused.code == 2, "\(words)")
                #expect(refused.error.hasSuffix(" (see ferry \(words[0]) --help)\n"), "\(refused.error)")
            }
            #expect(try await FerryProcess.run(["-V"], in: place).text.hasPrefix("ferry 0."))
        }
    }
}
