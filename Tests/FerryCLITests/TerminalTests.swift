import FerryTerminal
import FerryTesting
import Foundation
import Testing

@Suite("The binary: terminal", .serialized, .timeLimit(.minutes(30))) struct TerminalTests {
    private static let resource = Resource(size: 4_000_000, seed: 12)

    /// Fetches a file that is held midway, with bars on a terminal of this size.
    private static func shown(
        columns: Int, lines: Int = 24, arguments: [String] = [], environment: [String: String] = [:],
        paths: [String] = ["/中文文件名.bin"], whileHeld: (FerryProcess) async throws -> Void = { _ in }
    ) async throws -> FerryProcess.Outcome {
        try await OriginServer.with { server in
            let gate = Gate()
            var urls: [String] = []
            for path in paths {
                let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
                server.serve(encoded, Self.resource)
                server.always(encoded, .hold(after: 2_000_000, gate))
                urls.append(server.url(encoded))
            }
            let place = try Workplace()
            let process = try FerryProcess(
                ["get", "-x", "1"] + arguments + urls, in: place, environment: environment,
                error: .terminal(columns: columns, lines: lines))
            await gate.arrived(paths.count)
            if !arguments.contains("--no-progress") { await process.waitForTerminal(columns < 20 ? "\r" : "%") }
            try await whileHeld(process)
            gate.open()
            return try await process.outcome()
        }
    }

    @Test("Bars: the bar fits a terminal of any width and is gone at the end", arguments: [20, 40, 60, 80, 120, 200])
    func widths(columns: Int) async throws {
        let outcome = try await Self.shown(columns: columns)
        #expect(outcome.code == 0)
        var screen = Screen(width: columns, height: 24, columns: DisplayWidth.columns(of:))
        screen.write(outcome.terminal)
        let text = screen.lines.joined(separator: "\n").replacing(String(Screen.filler), with: "")
        // The line about the end stays, wrapped where the terminal is narrow; no piece of a bar does.
        #expect(text.replacing("\n", with: "").hasPrefix("中文文件名.bin: done, 4.0 MB"))
        #expect(!text.contains("%"))
        #expect(!text.contains("[="))
    }

    @Test("Bars: percent, size, speed and connections are shown, in colour unless NO_COLOR is set")
    func parts() async throws {
        // An empty bar has no colour.
        let colored = try await Self.shown(columns: 100) { await $0.waitForTerminal("50.0%") }
        for part in ["中文文件名.bin", "%", "/ 4.0 MB", "B/s", "1x", "\u{1B}[32m"] {
            #expect(colored.terminal.contains(part))
        }
        let plain = try await Self.shown(columns: 100, environment: ["NO_COLOR": "1"])
        #expect(plain.terminal.contains("%"))
        #expect(!plain.terminal.contains("\u{1B}[32m"))
    }

    @Test("Bars: several files have a bar each and one for the total")
    func several() async throws {
        let outcome = try await Self.shown(columns: 100, paths: ["/a.bin", "/b.bin"])
        #expect(outcome.code == 0)
        #expect(outcome.lines.count == 2)
        #expect(outcome.terminal.contains("0 of 2 files"))
    }

    @Test("Bars: after a resize the next frame has the new width")
    func resize() async throws {
        let outcome = try await Self.shown(columns: 120) { process in
            process.resize(columns: 30, lines: 24)
            // A frame for the narrow terminal has no bar: the line ends with the percent.
            await process.waitForTerminal("%\u{1B}[K")
        }
        #expect(outcome.code == 0)
        #expect(outcome.terminal.contains("%\u{1B}[K"))
    }

    @Test("Bars: repeated resizes with wide names leave no piece of a bar behind")
    func resizes() async throws {
        let widths = [120, 33, 80, 21, 200, 47, 100]
        let outcome = try await Self.shown(columns: 100, paths: ["/中文文件名.bin", "/e\u{301}日本語の長い名前.iso"]) { process in
            // Frames have lines of two files and of the total.
            for width in widths {
                process.resize(columns: width, lines: 10)
                await process.waitForTerminal("%")
            }
        }
        #expect(outcome.code == 0)
        var screen = Screen(width: 200, height: 60, columns: DisplayWidth.columns(of:))
        screen.write(outcome.terminal)
        let text = screen.lines.joined(separator: "\n").replacing(String(Screen.filler), with: "")
        #expect(text.contains("中文文件名.bin: done, 4.0 MB"))
        #expect(!text.contains("[="))
    }

    @Test("Bars: no line is wider than its terminal, in cells", arguments: [24, 37, 52, 79, 81, 133])
    func fits(columns: Int) async throws {
        let outcome = try await Self.shown(columns: columns, paths: ["/中文文件名很长很长很长很长.bin", "/b.bin"])
        #expect(outcome.code == 0)
        for line in outcome.terminal.split(whereSeparator: { $0 == "\n" || $0 == "\r" || $0 == "\r\n" })
        where line.contains("%") {
            var screen = Screen(width: 1000, height: 2, columns: DisplayWidth.columns(of:))
            screen.write(String(line))
            let cells = screen.lines.map { $0.count }.max() ?? 0
            #expect(cells <= columns, "\(line)")
        }
    }

    @Test("ferry get --user: without a password it asks on the terminal and does not echo the input")
    func password() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .basicAuth("me", "typedsecret"))
            let place = try Workplace()
            // A session of its own, with the pseudo-terminal as its terminal.
            let process = try FerryProcess(
                ["get", "--no-progress", "--user", "me", server.url("/f.bin")], in: place,
                error: .terminal(columns: 80, lines: 24), shell: "exec setsid -c -w \"$@\" <&2")
            await process.waitForTerminal("Password for me: ")
            process.type("typedsecret\n")
            let outcome = try await process.outcome()
            #expect(outcome.code == 0)
            #expect(outcome.lines == [place.path("f.bin")])
            #expect(!outcome.terminal.contains("typedsecret"))
        }
    }

    @Test(
        "Bars: --no-progress, -q and a dumb terminal draw nothing",
        arguments: [
            (["--no-progress"], "xterm"), (["-q", "--no-progress"], "xterm"), (["--no-progress"], "dumb"),
        ])
    func none(arguments: [String], term: String) async throws {
        let outcome = try await Self.shown(columns: 80, arguments: arguments, environment: ["TERM": term])
        #expect(outcome.code == 0)
        #expect(!outcome.terminal.contains("\u{1B}"))
    }
}
