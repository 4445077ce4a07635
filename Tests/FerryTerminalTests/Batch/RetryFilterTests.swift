import Ferry
import FerryTerminal
import Testing

@Suite("--retry-from") struct RetryFilterTests {
    private static let results = """
        {"checkpoint":{"completed":0},"v":1}
        {"status":"ok","time":"2026-01-01T00:00:00Z","url":"http://h/ok","path":"/d/ok"}
        {"status":"failed","reason":"refused","httpStatus":404,"time":"2026-01-01T00:00:00Z","url":"http://h/gone?a=b","directory":"/d"}
        {"status":"failed","reason":"timeout","time":"2026-01-01T00:00:00Z","url":"http://h/late","path":"/d/x/late.bin","mirrors":["http://m/late"],"checksum":"md5=00000000000000000000000000000000"}
        {"status":"cancelled","reason":"cancelled","time":"2026-01-01T00:00:00Z","url":"http://h/stopped","directory":"/d/sub"}
        {"status":"unusable","reason":"invalidRequest","time":"2026-01-01T00:00:00Z","url":"http://h/bad"}
        {"status":"duplicate","time":"2026-01-01T00:00:00Z","url":"http://h/ok"}
        {"status":"failed","reason":"network","httpStatus":503,"time":"2026-01-01T00:00:00Z","url":"http://h/busy","directory":"/d"}
        {"status":"fai
        """

    private static func plan(_ results: String = results, only: String? = nil) throws -> GetPlan {
        try GetPlanner.plan(
            .of {
                $0.files.retryFrom = "r"
                $0.files.only = only
                $0.files.directory = "/d"
            }, world: .test(files: ["r": results], directories: ["/d", "/d/sub", "/d/x"]))
    }

    private static func urls(_ plan: GetPlan) -> [String] { plan.items.compactMap { $0.request?.sources.first?.text } }

    @Test("--retry-from: failures are requested again with their paths, mirrors and checksums; a torn line is none")
    func all() throws {
        let plan = try Self.plan()
        #expect(Self.urls(plan) == ["http://h/gone?a=b", "http://h/late", "http://h/stopped", "http://h/busy"])
        #expect(plan.badLines == [])
        let requests = plan.items.compactMap(\.request)
        #expect(
            requests.map(\.destination) == [
                .directory("/d"), .file("/d/x/late.bin"), .directory("/d/sub"), .directory("/d"),
            ])
        #expect(requests[1].sources.map(\.text) == ["http://h/late", "http://m/late"])
        #expect(requests[1].checksum?.description == "md5=00000000000000000000000000000000")
        #expect(plan.items.estimateFiles() == (4, false))
    }

    @Test(
        "--only: words and HTTP statuses choose",
        arguments: [
            ("refused", ["gone?a=b"]), ("timeout,503", ["late", "busy"]), ("404", ["gone?a=b"]), ("checksum", []),
            ("cancelled", ["stopped"]),
        ])
    func only(words: String, names: [String]) throws {
        #expect(Self.urls(try Self.plan(only: words)) == names.map { "http://h/" + $0 })
    }

    @Test(
        "--only: another word is a usage error with the words there are",
        arguments: ["nope", "", "refused,", "99", "600"])
    func unknown(words: String) throws {
        let error = #expect(throws: UsageError.self) { try Self.plan(only: words) }
        #expect(error?.message.contains(": there are cancelled, catalogue, certificate, checksum, ") == true)
        #expect(error?.message.hasSuffix("timeout, tooLarge, unproven, wrongState, and HTTP statuses") == true)
    }

    @Test(
        "--retry-from: a path outside of the directory is not written",
        arguments: ["/etc/passwd", "/d/../etc/passwd", "/dd/x", "/d/./x", "relative", "/d/a\\u0000b"])
    func outside(path: String) throws {
        for member in ["path", "directory"] {
            let plan = try Self.plan(
                #"{"status":"failed","time":"2026-01-01T00:00:00Z","url":"http://h/f","\#(member)":"\#(path)"}"# + "\n")
            #expect(Self.urls(plan) == [])
            let lines = plan.badLines
            #expect(lines.count == 1 && lines[0].hasPrefix("r: line 1: its path "), "\(lines)")
            #expect(lines.first?.hasSuffix(" is not below /d; name its directory with -d") == true, "\(lines)")
        }
    }

    @Test("--retry-from: a hidden path below the directory is written only with --trust-list")
    func hidden() throws {
        let line =
            #"{"status":"failed","time":"2026-01-01T00:00:00Z","url":"http://h/f","path":"/d/.config/autostart/x"}"#
        for isTrusted in [false, true] {
            let plan = try GetPlanner.plan(
                .of {
                    ($0.files.retryFrom, $0.files.directory, $0.files.trustList) = ("r", "/d", isTrusted)
                }, world: .test(files: ["r": line + "\n"], directories: ["/d", "/d/.config/autostart"]))
            #expect(Self.urls(plan).count == (isTrusted ? 1 : 0))
            #expect(plan.badLines.count == (isTrusted ? 0 : 1))
        }
    }

    @Test("--retry-from: lines that are no results are reported, escaped and by number")
    func hostile() throws {
        let deep = String(repeating: "[", count: 100_000)
        let plan = try Self.plan(
            "no\n{\"a\":\(deep)\n{\"status\":\"failed\",\"time\":\"2026-01-01T00:00:00Z\",\"url\":\"x\u{1b}[2J\"}\n")
        let lines = plan.badLines
        #expect(lines.count == 3)
        #expect(lines.prefix(2) == ["r: line 1: this line is no result", "r: line 2: this line is no result"])
        #expect(lines.allSatisfy { !$0.unicodeScalars.contains("\u{1b}") })
    }

    @Test("--retry-from: it takes the place of URLs and lists, and goes with no results of its own name")
    func usage() throws {
        func message(_ change: @escaping (inout GetOptions) -> Void) -> String? {
            #expect(throws: UsageError.self) {
                try GetPlanner.plan(
                    .of {
                        $0.files.retryFrom = "r"
                        change(&$0)
                    }, world: .test(files: ["r": Self.results, "l": "http://h/a\n"]))
            }?.message
        }
        let instead = "--retry-from takes the place of URLs and lists; give no others"
        #expect(message { $0.files.lists = ["l"] } == instead)
        #expect(message { $0.files.items = ["http://h/a"] } == instead)
        #expect(
            message { $0.outcome.results = "r" }
                == "--results and --retry-from name the same file; give another name for the new results")
        #expect(
            message {
                $0.files.retryFrom = nil
                $0.files.only = "refused"
                $0.files.lists = ["l"]
            } == "--only needs --retry-from")
    }
}
