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
            (["-H", "A: b", "https://h/f"], ["get", "-H", "A: b", "https://h/f"]), (["-V"], ["--version"]),
            (["-q", "get", "https://h/f"], ["get", "-q", "https://h/f"]),
            (["--json", "-v", "list"], ["list", "--json", "-v"]),
            (["-q", "https://h/f"], ["get", "-q", "https://h/f"]),
            (["version"], ["--version"]), (["--help"], ["--help"]), (["list", "a"], ["list", "a"]), ([], []),
            (["help", "get"], ["help", "get"]), (["help"], ["help"]), (["-h"], ["-h"]),
        ])
    func completed(arguments: [String], expected: [String]) throws {
        #expect(try CommandAdvice.complete(arguments, commands: Self.commands) == expected)
    }

    @Test("GetPlanner: -c goes on with a file of another program that has the name, and with no file of Ferry")
    func goesOn() throws {
        let url = "https://h/f.bin"
        func request(_ words: [String], _ change: (inout PlanningWorld) -> Void = { _ in }) throws -> DownloadRequest {
            var world = PlanningWorld.test(files: ["f.bin": "abc", "/d/g": "abc", "/d/f.bin": ""])
            world.fileSize = { $0 == "/d/f.bin" ? 0 : 3 }
            change(&world)
            let plan = try GetPlanner.plan(try GetOptions.parse(words), world: world)
            return try #require(plan.items.first { _ in true }?.request)
        }
        #expect(try request([url]).destination == .directory("."))
        for words in [["-c", url], ["-C", "-", url]] {
            let found = try request(words)
            #expect(found.destination == .part("f.bin") && found.onConflict == .fail && found.sources.count == 1)
        }
        let named = try request(["-c", "-o", "/d/g", url, "--on-conflict", "overwrite"])
        #expect(named.destination == .part("/d/g") && named.onConflict == .overwrite)
        let empty = try request(["-c", "-d", "/d", url])
        #expect(empty.destination == .file("/d/f.bin") && empty.onConflict == .overwrite)
        #expect(try request(["-c", "-d", "/d", "https://h/x"]).destination == .directory("/d"))
        #expect(try request(["-c", url]) { $0.hasDownloaded = { _, _ in true } }.destination == .directory("."))
        let begun = try request(["-c", url]) { world in
            world.journalOrigins = { $0 == "f.bin.part" ? [Origin(scheme: .https, host: "h", port: 443)] : [] }
        }
        #expect(begun.destination == .directory("."))
    }

    @Test("CommandAdvice: ferry curl --help and ferry wget -h show what becomes of the options of these programs")
    func help() throws {
        let curl = try #require(CommandAdvice.pastedHelp(["curl", "--help"]))
        #expect(curl.contains("-o --output") && curl.contains("-o FILE --on-conflict overwrite"))
        #expect(CommandAdvice.pastedHelp(["wget", "-h"])?.contains("--directory-prefix") == true)
        #expect(CommandAdvice.pastedHelp(["help", "curl"]) == curl)
        #expect(CommandAdvice.pastedHelp(["help", "get"]) == nil)
        #expect(CommandAdvice.pastedHelp(["curl", "u"]) == nil && CommandAdvice.pastedHelp(["get", "--help"]) == nil)
    }

    @Test("GetPlanner: curl -o makes no directory without --create-dirs")
    func directories() throws {
        func request(_ words: [String]) throws -> DownloadRequest {
            try Self.request(Array(try CommandAdvice.complete(words, commands: Self.commands).dropFirst()))
        }
        let error = #expect(throws: UsageError.self) { try request(["curl", "-o", "/none/x", "https://h/f"]) }
        #expect(error?.message == "there is no directory /none; --create-dirs makes it" && error?.code == .disk)
        #expect(try request(["curl", "--create-dirs", "-o", "/none/x", "https://h/f"]).destination == .file("/none/x"))
        #expect(try request(["curl", "-o", "/d/x", "https://h/f"]).destination == .file("/d/x"))
        #expect(try request(["wget", "-O", "/none/x", "https://h/f"]).destination == .file("/none/x"))
    }

    @Test(
        "CommandAdvice: curl and wget name, replace and report a file as they do there",
        arguments: [
            (["curl", "-LO", "https://h/f"], ["https://h/f", "--name", "{name}", "--on-conflict", "overwrite"]),
            (["curl", "-OJs", "u"], ["-q", "u", "--on-conflict", "fail", "--no-paths"]),
            (["curl", "-so", "f", "u"], ["-q", "-o", "f", "u", "--on-conflict", "overwrite", "--no-paths"]),
            (["curl", "-o", "f", "u", "--on-conflict", "skip"], ["-o", "f", "u", "--on-conflict", "skip"]),
            (["curl", "--silent", "u"], ["-q", "u"]),
            (["wget", "-N", "u"], ["u", "--name", "{name}", "--on-conflict", "overwrite"]),
            (["wget", "--output-document=f", "u"], ["-o", "f", "u", "--on-conflict", "overwrite"]),
            (["wget", "-qN", "-O", "f", "u"], ["-q", "-o", "f", "u", "--on-conflict", "overwrite", "--no-paths"]),
            (["curl", "-sSx", "p:1", "-o-", "u"], ["-q", "--proxy", "p:1", "-o", "-", "u"]),
            (["wget", "-c", "u"], ["-c", "u"]), (["wget", "-qO-", "u"], ["-q", "-o", "-", "u"]),
            (["wget", "-nc", "-O", "f", "u"], ["--on-conflict", "skip", "-o", "f", "u"]),
            (["wget", "-dP/tmp", "u"], ["-d", "/tmp", "-v", "u"]),
        ])
    func pasted(arguments: [String], expected: [String]) throws {
        let found = try CommandAdvice.complete(arguments, commands: Self.commands)
        #expect(found == ["get", "--fail-when-refused"] + expected)
    }

    @Test(
        "CommandAdvice: curl without a name for the file writes it to an output that is no terminal",
        arguments: [
            (["curl", "-fsSL", "u"], ["-q", "u", "-o", "-"]),
            (["curl", "-LO", "u"], ["u", "--name", "{name}", "--on-conflict", "overwrite"]),
            (["curl", "-sof", "u"], ["-q", "-o", "f", "u", "--on-conflict", "overwrite", "--no-paths"]),
            (["curl", "--output", "f", "u"], ["-o", "f", "u", "--on-conflict", "overwrite"]),
            (["wget", "-q", "u"], ["-q", "u", "--no-paths"]),
        ])
    func piped(arguments: [String], expected: [String]) throws {
        let found = try CommandAdvice.complete(arguments, commands: Self.commands, isShown: false)
        #expect(found == ["get", "--fail-when-refused"] + expected)
    }

    @Test(
        "CommandAdvice: an option of a pasted command that Ferry cannot follow is refused, whatever the letter means here",
        arguments: [
            (["curl", "-d", "{}", "u"], OptionAdvice.onlyGET), (["curl", "-sd@f", "u"], OptionAdvice.onlyGET),
            (["curl", "-c", "jar", "u"], "cookies of servers"), (["wget", "-k", "u"], "not pages of a site"),
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
            ("ftp://h/f", "ferry downloads from http, https and s3 URLs"),
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
        "OptionAdvice: the option of ferry is named for one of curl, wget or aria2; other messages name the thing first",
        arguments: [
            (
                "Unknown option '--cert'. Did you mean '--dir'?",
                "--cert: unknown option: client certificates cannot be used"
            ),
            ("Unknown option '--data-raw'", "--data-raw: unknown option: \(OptionAdvice.onlyGET)"),
            ("Unknown option '--'", "-O-: to write to standard output, use -o -"),
            (
                "Unknown option '--resume'. Did you mean '--results'?",
                "--resume: unknown option: leave it out: a started download is resumed"
            ),
            ("Unknown option '-t'", "-t: unknown option: use --retries N"),
            ("Unknown option '--rate'", "--rate: unknown option: use --limit-rate RATE"),
            ("Unknown option '--speed-limit'", "--speed-limit: unknown option: use --min-speed RATE"),
            ("Unknown option '--foo'. Did you mean '--dir'?", "--foo: unknown option"),
            (
                "Unknown option '--parallle'. Did you mean '--parallel'?",
                "--parallle: unknown option; did you mean --parallel?"
            ),
            (
                "The value 'http://p:1' is invalid for '-x <n>'",
                "-x <n>: “http://p:1” is not a valid value; for a proxy use --proxy URL"
            ),
            ("The value 'many' is invalid for '-x <n>'", "-x <n>: “many” is not a valid value"),
            ("Missing expected argument '<url>'", "<url> is missing"), ("Missing value for '-j'", "-j needs a value"),
        ])
    func options(message: String, improved: String) {
        let help = GetOptions.helpMessage(columns: 400)
        #expect(OptionAdvice.improve(message, help: help).description == improved)
    }

    /// `ferry work --cacert` advised `--ca-file`, which only `ferry get` has.
    @Test("OptionAdvice: advice names only options that the command has")
    func others() {
        for help in [
            GetOptions.helpMessage(columns: 400), SyncArguments.helpMessage(columns: 400),
            RepairArguments.helpMessage(columns: 400),
        ] {
            let options = OptionAdvice.options(of: help)
            for name in OptionAdvice.names + ["--"] where !options.contains(name) {
                let text = OptionAdvice.improve("Unknown option '\(name)'", help: help).description
                let advised = OptionAdvice.options(in: text.split(separator: ": ").dropFirst().joined(separator: ": "))
                #expect(advised.isSubset(of: options), "\(text)")
            }
        }
        #expect(OptionAdvice.improve("Unknown option '--cacert'", help: "").description == "--cacert: unknown option")
    }

    @Test(
        "GetOptions: a number below zero is the value of its option, and refused as such",
        arguments: [
            ["--retries", "-1"], ["-x", "-1"], ["-j", "-1"], ["--max-redirects", "-1"], ["--host-connections", "-1"],
            ["--domain-connections", "-1"],
        ])
    func negative(words: [String]) {
        let error = #expect(throws: UsageError.self) { try Self.request(words + ["https://h/f"]) }
        #expect(error?.message.contains("needs a number") == true, "\(error?.message ?? "")")
    }

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

    @Test("GetPlanner: a file of checksums that is missing is reported with the option that names it")
    func missingChecksums() {
        let error = #expect(throws: UsageError.self) {
            try Self.request(["--checksum", "@/nonexist", "https://h/f"])
        }
        #expect(error?.message.hasPrefix("--checksum: \"/nonexist\" is neither a file here") == true)
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
            firefox.headers.map(\.name.canonicalName).sorted() == [
                "accept", "cookie", "upgrade-insecure-requests", "user-agent",
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
