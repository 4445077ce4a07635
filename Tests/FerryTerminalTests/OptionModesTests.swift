import ArgumentParser
import Ferry
import FerryAPI
import FerryCore
import FerryTesting
import Testing

@testable import FerryTerminal

@Suite("GetPlanner: options in every mode") struct OptionModesTests {
    /// The arguments of each way to say what is downloaded.
    private static let modes: [String: [String]] = [
        "URL": ["http://h/f"], "list": ["-i", "list"], "results": ["--retry-from", "r"], "part": ["f.part"],
        "part with URL": ["f.part", "http://h/f"], "directory": ["/d"], "stream": ["-o", "-", "http://h/f"],
    ]
    /// A use of each option of `ferry get`.
    private static let uses: [String: [String]] = [
        "--output": ["x"], "--dir": ["/e"], "--staging": ["/d"], "--input": ["list"], "--checksum": ["none"],
        "--mirror": ["http://m/f"], "--name": ["{host}-{name}"], "--dedup": ["--results", "r2"],
        "--shard": ["1/1000"], "--trust-list": [], "--retry-from": ["r"], "--only": ["503"], "--connections": ["3"],
        "--limit-rate": ["1M"], "--max-size": ["1M"], "--header": ["A: b"], "--user": ["me:pw"], "--netrc": [],
        "--referer": ["http://page/"], "--max-redirects": ["3"], "--allow-downgrade": [], "--no-private": [],
        "--proxy": ["http://p:1"], "--ca-file": ["ca"], "--insecure": [], "--cookie": ["a=b"],
        "--load-cookies": ["jar"], "--user-agent": ["agent"], "--ipv4": [], "--ipv6": [], "--connect-timeout": ["3"],
        "--stall-timeout": ["3"], "--min-speed": ["1M"], "--retries": ["3"], "--min-free": ["1M"],
        "--on-conflict": ["fail"], "--strict": [],
        "--unproven": [], "--resume-unproven": [], "--no-restart": [], "--accept-html": [], "--no-mtime": [],
        "--record-digests": [], "--no-fsync": [], "--parallel": ["2"], "--host-connections": ["2"],
        "--domain-connections": ["2"], "--host-delay": ["1s"], "--shared-group": [], "--results": ["r2"],
        "--allow-failures": ["--results", "r2"],
        "--json": [], "--print0": [], "--no-paths": [], "--no-progress": [], "--quiet": [], "--verbose": [],
    ]
    /// A stream has no path, whatever is asked for.
    private static let empty = ["stream": ["--dir", "--print0", "--no-paths"]]

    private static let world = {
        let failure = #"{"status":"failed","time":"2025-01-31T09:05:00.250Z","v":1,"reason":"refused","#
        return PlanningWorld.test(
            files: [
                "list": "http://h/f\nhttp://g/f\nhttp://g/e\n dir=/d\n",
                "f.part": "",
                "jar": "h\tFALSE\t/\tFALSE\t0\ta\tb\n",
                "netrc": "machine h login me password pw\n",
                "ca": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "r": failure + #""httpStatus":404,"url":"http://h/f"}"# + "\n" + failure
                    + #""httpStatus":503,"url":"http://h/g"}"# + "\n" + failure
                    + #""httpStatus":503,"url":"http://h/e","directory":"\#(OwnProgram.absolute(".hidden"))"}"# + "\n",
            ], directories: [".", "/d", "/e"], environment: ["NETRC": "netrc"],
            journals: ["f.part": ["http://h/f"], "/d": ["http://h/f"]])
    }()

    private static func plan(_ words: [String]) throws -> String {
        let plan = try GetPlanner.plan(try GetOptions.parse(words), world: world)
        var text = ""
        dump(plan.configuration, to: &text)
        dump(Array(plan.items), to: &text)
        dump(plan.output, to: &text)
        dump(plan.results, to: &text)
        dump(plan.allowsFailures, to: &text)
        return text
    }

    @Test("GetPlanner: an option changes the plan or is refused, in every mode: none is ignored")
    func everyOption() throws {
        for (mode, words) in Self.modes.sorted(by: { $0.key < $1.key }) {
            let plain = try Self.plan(words)
            for (option, values) in Self.uses.sorted(by: { $0.key < $1.key }) {
                // The mode's own option, of which the last one counts.
                if Self.modes[mode]?.first.map({ option.hasPrefix($0) || ($0, option) == ("-o", "--output") }) == true {
                    continue
                }
                if Self.empty[mode]?.contains(option) == true { continue }
                do {
                    let changed = try Self.plan([option] + values + words)
                    #expect(changed != plain, "\(option) is ignored: \(mode)")
                } catch is UsageError {}
            }
        }
    }

    /// The options of sets with a use of each; `--dry-run` and `--daemon` choose what is done with the plan.
    private static let setUses: [String: [String]] = [
        "--include": ["*.txt"], "--exclude": ["*.txt"], "--depth": ["1"], "--base": ["http://h/other/"], "--delete": [],
        "--safe-names": [], "--larger-than": ["1K"], "--smaller-than": ["1G"], "--newer-than": ["7d"],
        "--older-than": ["1h"], "--trust-listing": [], "--max-delete": ["5", "--delete"], "--dry-run": [],
        "--backup-dir": ["/backup"], "--staging": ["/d"], "--on-conflict": ["overwrite"],
        "--daemon": [],
    ]

    private static func setPlan(_ words: [String]) throws -> String {
        let arguments = try SyncArguments.parse(words + ["http://h/d/", "dir"])
        let planner = SyncPlanner(
            try GetOptions.parse(["http://h/f"]), arguments.request, arguments.trust, arguments.run, arguments.show,
            world: world)
        let (_, options) = try planner.source(arguments)
        var request = options.request
        request.sources = [try DownloadURL("http://h/d/f")]
        let plan = try planner.plan([request])
        var text = ""
        dump(try planner.destination(arguments), to: &text)
        dump(options, to: &text)
        dump(plan.configuration, to: &text)
        dump(Array(plan.items), to: &text)
        dump(plan.output, to: &text)
        return text
    }

    @Test("SyncPlanner: an option changes the plan or is refused: none is ignored")
    func everySetOption() throws {
        let names = Self.names(SyncArguments.helpMessage(columns: 400))
        // They belong to ferry get alone, and were listed although every use was refused.
        #expect(names.isDisjoint(with: ["--results", "--allow-failures"]))
        let all = Self.uses.merging(Self.setUses) { $1 }
        #expect(names.subtracting(all.keys) == [])
        let plain = try Self.setPlan([])
        for option in names.subtracting(["--dry-run", "--daemon"]).sorted() {
            do {
                #expect(try Self.setPlan([option] + all[option, default: []]) != plain, "\(option) is ignored")
            } catch is UsageError {}
        }
    }

    private static func daemonSet(_ words: [String]) throws -> NewSet {
        let arguments = try SyncArguments.parse(words)
        let planner = SyncPlanner(
            try GetOptions.parse([]), arguments.request, arguments.trust, arguments.run, arguments.show, world: world)
        return try planner.daemonSet(arguments, standard: try GetOptions.parse([]))
    }

    /// The options with which `ferry sync --daemon` prints what it prints without them, or less.
    private static let silent: Set = ["--json", "--no-paths", "--no-progress", "--quiet"]

    @Test("SyncPlanner: with --daemon, an option changes the set or is refused: none is ignored")
    func everyDaemonOption() throws {
        let words = ["http://h/d/", "dir"]
        let plain = try Self.daemonSet(words)
        let uses = Self.uses.merging(Self.setUses) { $1 }
        let names = Self.names(SyncArguments.helpMessage(columns: 400)).subtracting(Self.silent)
        for option in names.subtracting(["--daemon"]).sorted() {
            do {
                #expect(
                    try Self.daemonSet([option] + uses[option, default: []] + words) != plain, "\(option) is ignored")
            } catch is UsageError {}
        }
    }

    @Test("SyncPlanner: with --daemon, credentials in the URL of the source or of --base are refused")
    func daemonCredentials() throws {
        for words in [["http://me:pw@h/d/", "dir"], ["list", "dir", "--base", "http://me:pw@h/"]] {
            let error = #expect(throws: UsageError.self) { try Self.daemonSet(words) }
            #expect(error?.message.contains("the daemon keeps no credentials") == true)
            #expect(error?.message.contains("pw") == false)
        }
    }

    /// The message was about hidden files of the home directory.
    @Test("SyncPlanner: a directory without a name is refused, with --daemon too")
    func emptyDirectory() throws {
        for option in [[], ["--safe-names"]] {
            let error = #expect(throws: UsageError.self) { try Self.daemonSet(option + ["http://h/d/", ""]) }
            #expect(error?.message.contains("is empty") == true)
            let arguments = try SyncArguments.parse(option + ["http://h/d/", ""])
            let planner = SyncPlanner(
                try GetOptions.parse(["http://h/f"]), arguments.request, arguments.trust, arguments.run, arguments.show,
                world: Self.world)
            #expect(throws: UsageError.self) { try planner.destination(arguments) }
        }
    }

    @Test(
        "SyncPlanner: a sync into the home directory or above it needs --safe-names",
        arguments: [
            ("/home/me", false), ("/home", false), ("/", false), ("/home/me/data", true), ("/home/men", true),
            ("/home/me/.", false), ("/home/you/../me", false), ("/home/me/data/..", false), ("/home/me/../you", true),
        ])
    func homeDirectory(directory: String, isAllowed: Bool) throws {
        var world = PlanningWorld.test()
        world.environment["HOME"] = "/home/me"
        for option in [[], ["--safe-names"]] {
            let arguments = try SyncArguments.parse(option + ["http://h/d/", directory])
            let planner = SyncPlanner(
                try GetOptions.parse(["http://h/f"]), arguments.request, arguments.trust, arguments.run, arguments.show,
                world: world)
            if isAllowed || !option.isEmpty {
                #expect(try planner.source(arguments).1.safeNames == !option.isEmpty)
            } else {
                #expect(throws: UsageError.self) { try planner.source(arguments) }
            }
        }
    }

    @Test("ferry sync, ferry repair: the help has the rules for existing files that the command accepts")
    func conflictRules() throws {
        let help = SyncArguments.helpMessage(columns: 400)
        #expect(help.contains("fail or overwrite (default: fail)") && !help.contains("rename, overwrite"))
        #expect(!RepairArguments.helpMessage(columns: 400).contains("--on-conflict"))
        for rule in ["fail", "overwrite", "rename", "skip"] {
            let isAccepted = (try? Self.setPlan(["--on-conflict", rule])) != nil
            #expect(isAccepted == ["fail", "overwrite"].contains(rule), "\(rule)")
        }
    }

    @Test("RequestOption: every option of the tables is in the help, once")
    func everyTable() {
        let names =
            CommonOptions.table.map(\.name) + RequestOptions.table.map(\.name) + TrustOptions.table.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Self.names(GetOptions.helpMessage(columns: 400)).isSuperset(of: names.map { "--" + $0 }))
    }

    @Test("docs/cli.md: its tables have exactly the options of ferry get")
    func documentedOptions() throws {
        let cells = try Documentation("cli.md").firstCells(beginning: "`-")
        let documented = cells.flatMap { $0.matches(of: #/--[a-z0-9-]+/#).map { String($0.0) } }
        #expect(Set(documented) == Self.names(GetOptions.helpMessage(columns: 400)))
    }

    @Test("docs/cli.md: the defaults and bounds of options are those of the program")
    func documentedDefaults() throws {
        let rows = try Documentation("cli.md").rows(after: "| option | default | meaning |", at: 1)
        func standard(_ option: String) -> String? { rows.first { $0[0].hasPrefix(option) }?[1] }
        #expect(standard("-x, --connections") == "\(DownloadRequest.plain.maxConnections)")
        #expect(standard("-j, --parallel") == "\(try GetOptions.parse([]).run.parallel)")
        #expect(standard("--stall-timeout") == "\(DownloadRequest.standardStallTimeout.components.seconds)")
        #expect(standard("--connect-timeout") == "\(TransferSettings().connectTimeout.components.seconds)")
        #expect(standard("--retries") == "\(DownloadRequest.standardMaxRetries)")
        let server = try Documentation("cli.md").rows(after: "| option | meaning |")
        var request = DownloadRequest.plain
        request.maxRedirects = -1
        let bounds = try #require(request.exceededBounds(of: .maxRedirects))
        let redirects = try #require(server.first { $0[0].hasPrefix("--max-redirects") }?[1])
        #expect(
            redirects.hasSuffix("\(bounds.least) to \(bounds.most); \(DownloadRequest.plain.maxRedirects) by default"))
    }

    @Test("docs/remote.md: its tables have exactly the settings of ferry set")
    func documentedSettings() throws {
        for (kind, names) in [("the daemon", SetPlanner.daemonNames), ("a download", SetPlanner.downloadNames)] {
            let rows = try Documentation("remote.md").rows(after: "| setting of \(kind) | |")
            let documented = rows.flatMap { $0[0].matches(of: #/([a-z-]+)=/#).map { String($0.1) } }
            #expect(documented.sorted() == names.sorted(), "\(kind)")
        }
    }

    @Test("SyncPlanner: s3://BUCKET/PREFIX is a prefix of objects, whatever is said of directories alone is refused")
    func prefixOfBucket() throws {
        func destination(_ words: String...) throws -> SyncDestination {
            let arguments = try SyncArguments.parse(["http://h/d/"] + words)
            let planner = SyncPlanner(
                try GetOptions.parse(["http://h/f"]), arguments.request, arguments.trust, arguments.run, arguments.show,
                world: Self.world)
            return try planner.destination(arguments)
        }
        for text in ["s3://bucket/a/b", "S3://bucket/a/b/"] {
            #expect(
                try destination(text, "--staging", "/d")
                    == .objects(try DownloadURL("s3://bucket/a/b/"), staging: "/d"))
        }
        #expect(try destination("/e") == .directory("/e"))
        #expect(throws: UsageError.self) { try destination("/e", "--staging", "/d") }
        #expect(throws: UsageError.self) { try destination("s3://bucket/a", "--backup-dir", "/d") }
        #expect(throws: UsageError.self) { try destination("s3://bucket/a?versionId=1") }
    }

    @Test("GetOptions: the table above has every option of the help")
    func everyName() {
        #expect(Self.names(GetOptions.helpMessage(columns: 400)) == Set(Self.uses.keys))
    }

    /// The long names of the options in a help text.
    private static func names(_ help: String) -> Set<String> {
        let names = help.split(separator: "\n").filter { $0.hasPrefix("  -") }.compactMap { line in
            line.split(whereSeparator: { " ,".contains($0) }).first { $0.hasPrefix("--") }.map(String.init)
        }
        return Set(names).subtracting(["--help"])
    }
}
