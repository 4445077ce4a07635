import ArgumentParser
import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import FerryTerminal

/// Command lines of curl and wget, and what becomes of each of their options.
@Suite("PastedCommand") struct PastedCommandTests {
    private static func translated(_ words: [String], isShown: Bool = true) throws -> [String] {
        try PastedCommand.translate(words.dropFirst(), of: words[0], isShown: isShown)
    }

    private static func rows(of program: PastedOption.Program) -> [String] {
        PastedOption.all(of: program).map { option in
            "| `\(option.names.joined(separator: "` `"))` | \(option.text.replacing("|", by: "\\|")) |"
        }
    }

    @Test(
        "docs/curl-and-wget.md has exactly the options that are read, and what becomes of them",
        arguments: PastedOption.Program.allCases)
    func documented(program: PastedOption.Program) throws {
        let text = try Repository.text("docs/curl-and-wget.md")
        let title = "## Options of \(program.rawValue)\n"
        let start = try #require(text.range(of: title)).upperBound
        let section = text[start...].prefix(upTo: text[start...].range(of: "\n## ")?.lowerBound ?? text.endIndex)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        #expect(rows == Self.rows(of: program), "\(Self.rows(of: program).joined(separator: "\n"))")
    }

    @Test(
        "PastedOption: at least fifty long options of each program are followed, and no name is there twice",
        arguments: PastedOption.Program.allCases)
    func many(program: PastedOption.Program) {
        let options = PastedOption.all(of: program)
        let followed = options.filter { if case .refused = $0.meaning { false } else { true } }
        #expect(followed.flatMap(\.names).filter { $0.hasPrefix("--") }.count >= 50)
        let names = options.flatMap(\.names)
        #expect(Set(names).count == names.count)
    }

    @Test("PastedOption: the reason of each refusal is Chinese too", arguments: PastedOption.Program.allCases)
    func chinese(program: PastedOption.Program) {
        for option in PastedOption.all(of: program) {
            guard case .refused(let reason) = option.meaning else { continue }
            #expect(Reason.pattern(reason, []).text(in: .simplifiedChinese) != reason, "\(option.names)")
        }
    }

    @Test(
        "PastedCommand: options of curl and wget become those of Ferry with the same meaning",
        arguments: [
            (
                ["curl", "--retry", "3", "-o", "f", "u"],
                ["--retries", "3", "-o", "f", "u", "--on-conflict", "overwrite"]
            ),
            (
                ["curl", "--cacert=ca", "-Jo", "f", "u"],
                ["--ca-file", "ca", "-o", "f", "u", "--on-conflict", "overwrite"]
            ),
            (
                ["curl", "--proto", "=https", "--tlsv1.2", "-sSf", "https://h/f"],
                ["-q", "https://h/f"]
            ),
            (["curl", "--create-dirs", "--output-dir", "d", "u"], ["-d", "d", "u"]),
            (["curl", "--limit-rate", "200k", "--url", "u"], ["--limit-rate", "200KiB", "u"]),
            (["curl", "--limit-rate", "500", "-Y", "1", "u"], ["--limit-rate", "500B", "--min-speed", "1B", "u"]),
            (
                ["curl", "-O", "u", "-O", "v"],
                ["u", "v", "--name", "{name}", "--on-conflict", "overwrite"]
            ),
            (
                ["curl", "--remote-name-all", "u", "v"],
                ["u", "v", "--name", "{name}", "--on-conflict", "overwrite"]
            ),
            (["curl", "--oauth2-bearer", "t", "u"], ["-H", "Authorization: Bearer t", "u"]),
            (["curl", "-H", "-x", "u"], ["-H", "-x", "u"]),
            (["curl", "-H", "A: b", "-H", "B:", "-H", "C;", "u"], ["-H", "A: b", "-H", "C:", "u"]),
            (["curl", "-H", "range: bytes=0-", "-H", "If-None-Match: \"x\"", "-H", "@f", "u"], ["-H", "@f", "u"]),
            (["curl", "--noproxy", "*", "u"], ["--proxy", "none", "u"]),
            (["curl", "--no-clobber", "u"], ["--on-conflict", "rename", "u"]), (["curl", "-g", "u{a}"], ["u{a}"]),
            (["curl", "--checksum", "none", "u"], ["--checksum", "none", "u"]), (["curl", "--", "-u"], ["--", "-u"]),
            (["wget", "-t", "3", "u"], ["--retries", "2", "u"]),
            (["wget", "--tries=0", "u"], ["--retries", "inf", "u"]),
            (["wget", "-w", "1", "u"], ["--host-delay", "1s", "u"]),
            (["wget", "--user=me", "--password", "pw", "u"], ["u", "-u", "me:pw"]),
            (["wget", "--no-check-cert", "u"], ["-k", "u"]), (["wget", "--no-proxy", "u"], ["--proxy", "none", "u"]),
            (["wget", "-q", "--show-progress", "u"], ["u", "--no-paths"]),
            (["wget", "-x", "u"], ["u", "--name", "{host}/{path}/{name}"]),
            (["wget", "-x", "http://h:81/f"], ["http://h:81/f", "--name", "h:81/{path}/{name}"]),
            (["wget", "-x", "http://h:80/f"], ["http://h:80/f", "--name", "{host}/{path}/{name}"]),
            (["wget", "-P", "d", "-x", "-nH", "u"], ["-d", "d", "u", "--name", "{path}/{name}"]),
            (["wget", "--ca-certificate", "ca", "-nc", "u"], ["--ca-file", "ca", "--on-conflict", "skip", "u"]),
        ])
    func options(words: [String], expected: [String]) throws {
        #expect(try Self.translated(words) == ["get", "--fail-when-refused"] + expected)
        #expect(
            try Self.translated([words[0], "--retry-connrefused"] + words.dropFirst()) == ["get"] + expected)
    }

    @Test(
        "PastedCommand: wget -r and -m become ferry sync, into the directory that wget fills",
        arguments: [
            (["wget", "-m", "http://h/a/b/"], ["http://h/a/b/", "h/a/b"]),
            (["wget", "--mirror", "http://h"], ["http://h/", "h"]),
            (["wget", "-r", "-np", "http://h:81/a%20b"], ["http://h:81/a%20b/", "h:81/a b", "--depth", "4"]),
            (["wget", "-r", "-l", "1", "-nH", "http://h/a/"], ["http://h/a/", "a", "--depth", "0"]),
            (["wget", "-rl", "inf", "-nH", "--cut-dirs=2", "http://h/a/b/"], ["http://h/a/b/", "."]),
            (
                ["wget", "-q", "-r", "-l0", "-P", "d", "-R", "index.html*", "-A", "iso,*.sig", "http://h/a/"],
                [
                    "http://h/a/", "d/h/a", "--exclude", "index.html*", "--include", "*iso", "--include", "*.sig", "-q",
                    "--no-paths",
                ]
            ), (["wget", "-me", "robots=off", "http://h/../x/"], ["http://h/../x/", "h/x"]),
        ])
    func recursive(words: [String], expected: [String]) throws {
        let found = try Self.translated(words)
        #expect(found == ["sync"] + expected.prefix(2) + ["--fail-when-refused"] + expected.dropFirst(2))
        _ = try SyncArguments.parse(Array(found.dropFirst()))
    }

    @Test(
        "PastedCommand: what Ferry cannot do is refused, with what to do instead",
        arguments: [
            (["curl", "-m", "5", "u"], "-m of curl: write timeout SECONDS"),
            (["curl", "--head", "u"], "ferry plan URL"),
            (["curl", "-H", "Range: bytes=5-", "u"], "-H Range of curl: ferry fetches whole files"),
            (["curl", "-w", "%{http_code}", "u"], "use --json"), (["curl", "u", "-o"], "-o needs a value"),
            (["curl", "--proto", "ftp", "u"], "ferry fetches http and https"),
            (["curl", "--proto", "=https", "http://h/f"], "is not an https URL"),
            (["curl", "-O", "http://h/f[1-3].dat"], "ferry expands no patterns"),
            (["curl", "-sO", "u", "v"], "-O of curl: it is for one URL: give it 2 times"),
            (["curl", "-O", "u", "-OJ", "v", "--url", "w"], "give it 3 times, or --remote-name-all"),
            (["curl", "--silent=yes", "u"], "--silent takes no value"), (["wget", "--spider", "u"], "ferry plan URL"),
            (["wget", "-r", "-O", "f", "http://h/"], "ferry sync, which has no -O"),
            (["wget", "-m", "http://h/", "http://g/"], "the URL of one directory"),
            (["wget", "-m", "http://h/f.html"], "with a / at its end"),
            (["wget", "-k", "u"], "-k of wget: ferry sync"),
            (["wget", "-e", "timeout=1", "u"], "ferry reads no .wgetrc"), (["wget", "--password", "p", "u"], "--user"),
            (["wget", "-r", "-l", "x", "http://h/"], "-l needs a number"),
        ])
    func refused(words: [String], reason: String) {
        let error = #expect(throws: UsageError.self) { try Self.translated(words) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(
        "ArgumentSecrets: a password is hidden under a beginning of its option's name, and after -H and -u of curl",
        arguments: [
            ["wget", "--passw", "secret", "u"], ["wget", "--http-pass=secret", "u"],
            ["curl", "--oauth2", "secret", "u"],
            ["curl", "-sH", "secret", "u"], ["curl", "-usecret", "u"], ["curl", "--proxy-u", "secret", "u"],
        ])
    func secrets(words: [String]) {
        let ranges = ArgumentSecrets.ranges(in: words.map { Array($0.utf8) })
        let shown = zip(words, ranges).map { word, ranges in
            var bytes = Array(word.utf8)
            for range in ranges { for index in range { bytes[index] = UInt8(ascii: "*") } }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(!shown.joined(separator: " ").contains("secret"), "\(shown)")
    }

    @Test("docs/curl-and-wget.md has the exit status of each end under each name")
    func statuses() throws {
        let text = try Repository.text("docs/curl-and-wget.md")
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }.filter { $0.count == 4 && Int($0[0]) != nil }
        let expected = FerryTerminal.ExitCode.allCases.map { code in
            [code.rawValue, PastedExitStatus.of(code, after: "curl"), PastedExitStatus.of(code, after: "wget")].map(
                String.init)
        }
        #expect(rows.map { Array($0.prefix(3)) } == expected)
    }
}
