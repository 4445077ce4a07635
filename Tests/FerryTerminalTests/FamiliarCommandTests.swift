import ArgumentParser
import Ferry
import FerryTerminal
import Foundation
import HTTPTypes
import Testing

/// Command lines of people who know curl and wget.
@Suite("Familiar command lines") struct FamiliarCommandTests {
    private static let commands = [
        "get", "plan", "add", "list", "show", "watch", "pause", "resume", "remove", "move", "set",
    ]

    private static func request(_ arguments: [String], files: [String: String] = [:]) throws -> DownloadRequest {
        let plan = try GetPlanner.plan(try GetOptions.parse(arguments), world: .test(files: files))
        return try #require(plan.items.first { _ in true }?.request)
    }

    @Test(
        "CommandAdvice: a URL, a pasted command and options with a URL stand for ferry get",
        arguments: [
            (["https://h/f"], ["get", "https://h/f"]), (["HTTP://h/f", "-o", "x"], ["get", "HTTP://h/f", "-o", "x"]),
            (
                ["curl", "-LO", "https://h/f"],
                ["get", "https://h/f", "--name", "{name}", "--on-conflict", "overwrite"]
            ),
            (["curl", "-OJs", "u"], ["get", "-s", "u", "--on-conflict", "fail"]),
            (["curl", "-so", "f", "u"], ["get", "-s", "-o", "f", "u", "--on-conflict", "overwrite", "--no-paths"]),
            (["curl", "-o", "f", "u", "--on-conflict", "skip"], ["get", "-o", "f", "u", "--on-conflict", "skip"]),
            (["curl", "--silent", "u"], ["get", "-s", "u"]),
            (["wget", "-N", "u"], ["get", "u", "--name", "{name}", "--on-conflict", "overwrite"]),
            (["wget", "--output-document=f", "u"], ["get", "-o", "f", "u", "--on-conflict", "overwrite"]),
            (
                ["wget", "-qN", "-O", "f", "u"],
                ["get", "-q", "-o", "f", "u", "--on-conflict", "overwrite", "--no-paths"]
            ),
            (["curl", "-sSx", "p:1", "-o-", "u"], ["get", "-s", "--proxy", "p:1", "-o-", "u"]),
            (["wget", "-c", "u"], ["get", "u"]), (["wget", "-qO-", "u"], ["get", "-q", "-o", "-", "u"]),
            (["wget", "-nc", "-O", "f", "u"], ["get", "--on-conflict", "skip", "-o", "f", "u"]),
            (["wget", "-dx", "-P/tmp", "u"], ["get", "-v", "-d", "/tmp", "u"]),
            (["-H", "A: b", "https://h/f"], ["get", "-H", "A: b", "https://h/f"]), (["-V"], ["--version"]),
            (["version"], ["--version"]), (["--help"], ["--help"]), (["list", "a"], ["list", "a"]), ([], []),
            (["help", "get"], ["help", "get"]), (["help"], ["help"]), (["-h"], ["-h"]),
        ])
    func completed(arguments: [String], expected: [String]) throws {
        #expect(try CommandAdvice.complete(arguments, commands: Self.commands) == expected)
    }

    @Test(
        "CommandAdvice: curl without a name for the file writes it to an output that is no terminal",
        arguments: [
            (["curl", "-fsSL", "u"], ["get", "-s", "u", "-o", "-"]),
            (["curl", "-LO", "u"], ["get", "u", "--name", "{name}", "--on-conflict", "overwrite"]),
            (["curl", "-sof", "u"], ["get", "-s", "-of", "u", "--on-conflict", "overwrite", "--no-paths"]),
            (["curl", "--output", "f", "u"], ["get", "--output", "f", "u", "--on-conflict", "overwrite"]),
            (["wget", "-q", "u"], ["get", "-q", "u", "--no-paths"]),
        ])
    func piped(arguments: [String], expected: [String]) throws {
        #expect(try CommandAdvice.complete(arguments, commands: Self.commands, isShown: false) == expected)
    }

    @Test(
        "CommandAdvice: an option of a pasted command that Ferry cannot follow is refused, whatever the letter means here",
        arguments: [
            (["curl", "-d", "{}", "u"], OptionAdvice.onlyGET), (["curl", "-sd@f", "u"], OptionAdvice.onlyGET),
            (["curl", "-c", "jar", "u"], "cookies of servers"), (["wget", "-k", "u"], "nothing recursive"),
            (["wget", "-b", "u"], "ferry add URL"),
        ])
    func refused(arguments: [String], reason: String) {
        let error = #expect(throws: UsageError.self) {
            try CommandAdvice.complete(arguments, commands: Self.commands)
        }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(
        "CommandAdvice: for an unknown command the one that is meant is named, if any",
        arguments: [
            ("ls", "did you mean ferry list?"), ("rm", "did you mean ferry remove?"),
            ("gte", "did you mean ferry get?"),
            ("lsit", "did you mean ferry list?"), ("resumee", "did you mean ferry resume?"),
            ("status", "did you mean ferry list?"), ("nonsense", "to download, write ferry get URL"),
            ("example.com/f", "to download, write ferry get URL"),
        ])
    func unknown(word: String, advice: String) {
        for arguments in [[word], [word, "x"], ["help", word]] {
            let error = #expect(throws: UsageError.self) {
                try CommandAdvice.complete(arguments, commands: Self.commands)
            }
            #expect(error?.message.hasSuffix(advice) == true, "\(error?.message ?? "")")
        }
        let stop = #expect(throws: UsageError.self) { try CommandAdvice.complete(["stpo"], commands: ["stop", "set"]) }
        #expect(stop?.message.hasSuffix("did you mean ferry stop?") == true)
    }

    @Test(
        "OptionAdvice: the option of ferry is named for one of curl, wget or aria2; other messages are unchanged",
        arguments: [
            (
                "Unknown option '--cert'. Did you mean '--dir'?",
                "Unknown option '--cert': client certificates cannot be used"
            ),
            ("Unknown option '--data-raw'", "Unknown option '--data-raw': \(OptionAdvice.onlyGET)"),
            ("Unknown option '-t'", "Unknown option '-t': use --retries N"),
            ("Unknown option '--rate'", "Unknown option '--rate': use --limit-rate RATE"),
            (
                "Unknown option '--parallle'. Did you mean '--parallel'?",
                "Unknown option '--parallle'. Did you mean '--parallel'?"
            ),
            (
                "The value 'http://p:1' is invalid for '-x <n>'",
                "The value 'http://p:1' is invalid for '-x <n>'; a proxy is --proxy URL"
            ),
            ("The value 'many' is invalid for '-x <n>'", "The value 'many' is invalid for '-x <n>'"),
        ])
    func options(message: String, improved: String) { #expect(OptionAdvice.improve(message).description == improved) }

    @Test(
        "GetOptions: the short options of curl and wget mean what they mean there, and those of every day are accepted")
    func short() throws {
        let request = try Self.request([
            "-fsSL", "-O", "-J", "-g", "-c", "-C", "-", "-R", "--compressed", "-X", "GET", "-k", "-4", "-H", "X-A: 1",
            "-H", "X-B: 2", "-A", "agent", "-e", "http://page/", "-u", "me:pw", "-b", "a=b; c=d", "-P", "/d",
            "https://h/f",
        ])
        #expect(
            request.headers.map { "\($0.name): \($0.value)" }
                == ["X-A: 1", "X-B: 2", "Cookie: a=b; c=d", "Referer: http://page/"])
        #expect(request.credentials?.password == "pw")
        #expect(request.connection.userAgent == "agent")
        #expect(request.connection.insecure && request.connection.addressFamily == .v4)
        #expect(request.destination == .directory("/d"))
        let jar = try Self.request(["-b", "jar", "https://h/f"], files: ["jar": "h\tFALSE\t/\tFALSE\t0\ta\tb\n"])
        #expect(jar.connection.cookies?.count == 1 && jar.headers.isEmpty)
    }

    @Test(
        "GetPlanner: a host with a path is an https URL, unless it is a file here",
        arguments: ["example.com/f", "localhost:8443/f", "127.0.0.1/f", "EXAMPLE.com:8080/a/b?c"])
    func withoutScheme(text: String) throws {
        #expect(try Self.request([text]).sources == [try DownloadURL("https://" + text)])
        #expect(throws: UsageError.self) { try Self.request([text], files: [text: ""]) }
    }

    @Test(
        "GetOptions: a command that browsers copy downloads the same file, without fields of the browser's connection")
    func copied() throws {
        let firefox = try Self.request([
            "https://h/f", "--compressed", "-H", "User-Agent: Mozilla/5.0", "-H", "Accept: text/html,*/*;q=0.8", "-H",
            "Accept-Encoding: gzip, deflate, br, zstd", "-H", "Connection: keep-alive", "-H", "Cookie: a=b", "-H",
            "Upgrade-Insecure-Requests: 1", "-H", "TE: trailers",
        ])
        #expect(
            Set(firefox.headers.map(\.name.canonicalName)) == [
                "user-agent", "accept", "cookie", "upgrade-insecure-requests",
            ])
        let chrome = try Self.request([
            "https://h/f", "-H", "accept: */*", "-b", "session=1; id=2", "-H", #"sec-ch-ua: "Chromium";v="140""#,
        ])
        #expect(chrome.headers[.cookie] == "session=1; id=2")
        #expect(throws: UsageError.self) { try Self.request(["https://h/f", "-H", "Range: bytes=5-"]) }
        for words in [["-X", "POST"], ["-C", "500"]] {
            #expect(throws: (any Error).self) { try Self.request(words + ["https://h/f"]) }
        }
    }
}
