import Ferry
import FerryTerminal
import Foundation
import HTTPTypes
import Testing

@Suite("GetPlanner") struct GetPlannerTests {
    private static let url = "http://h/f.iso"

    private static func plan(_ options: GetOptions, _ world: PlanningWorld = .test()) throws -> GetPlan {
        try GetPlanner.plan(options, world: world)
    }

    private static func request(_ plan: GetPlan, _ index: Int = 0) throws -> DownloadRequest {
        guard case .request(let request)? = plan.items.dropFirst(index).first(where: { $0.request != nil }) else {
            throw UsageError("no request at \(index)")
        }
        return request
    }

    @Test("GetPlanner: without options the plan has the documented defaults")
    func defaults() throws {
        let plan = try Self.plan(.of(Self.url))
        let request = try Self.request(plan)
        #expect(request.sources.map(\.text) == [Self.url])
        #expect(request.destination == .directory("."))
        #expect(request.onConflict == .rename)
        #expect(request.maxConnections == 16)
        #expect(request.trust == TrustRules())
        #expect(request.syncsToDisk)
        #expect(plan.configuration.maxConcurrentDownloads == 3)
        #expect(request.connection == ConnectionRules())
        #expect(request.minFreeBytes == nil && request.maxRetries == nil && request.stallTimeout == nil)
        var transfer = TransferSettings()
        transfer.s3 = S3Settings(environment: PlanningWorld.test().environment)
        #expect(plan.configuration.transfer == transfer)
        #expect(plan.configuration.transfer.connectionsPerHost == 16)
        #expect(plan.output == OutputOptions())
    }

    @Test("GetPlanner: every option reaches the request or the configuration")
    func everything() throws {
        let options = GetOptions.of(Self.url) {
            $0.files.output = "n.iso"
            $0.files.directory = "/d"
            $0.run.parallel = 5
            $0.request.connections = 32
            $0.files.checksum = "md5:" + String(repeating: "0", count: 32)
            $0.files.mirror = ["https://m/f.iso"]
            $0.request.common.header = ["X-A: 1", "@h.txt"]
            $0.request.user = "me:pass:word"
            $0.request.common.userAgent = "agent"
            $0.request.referer = "http://page/"
            $0.request.limitRate = "5M"
            $0.request.maxSize = "1GiB"
            $0.request.maxRedirects = 3
            $0.request.common.connectTimeout = "2.5"
            $0.request.stallTimeout = "30"
            $0.request.minSpeed = "100KiB/s"
            $0.request.retries = "inf"
            $0.request.minFree = "0"
            $0.request.proxy = "http://p:3128"
            $0.request.insecure = true
            $0.request.loadCookies = "jar"
            $0.request.allowDowngrade = true
            $0.request.ipv6 = true
            $0.files.onConflict = "skip"
            $0.trust.strict = true
            $0.trust.unproven = true
            $0.trust.resumeUnproven = true
            $0.trust.noRestart = true
            $0.trust.noFsync = true
            $0.trust.noMtime = true
            $0.trust.recordDigests = true
            $0.show.print0 = true
            $0.show.quiet = true
        }
        let plan = try Self.plan(
            options, .test(files: ["h.txt": "# comment\nX-B: 2\n", "jar": "h\tFALSE\t/\tFALSE\t0\ta\tb\n"]))
        let request = try Self.request(plan)
        #expect(request.sources.map(\.text) == [Self.url, "https://m/f.iso"])
        #expect(request.destination == .file("/d/n.iso"))
        #expect(request.headers.map { "\($0.name): \($0.value)" } == ["X-A: 1", "X-B: 2", "Referer: http://page/"])
        #expect(request.credentials == Credentials(user: "me", password: "pass:word"))
        #expect(request.checksum?.algorithm == .md5)
        #expect(request.maxConnections == 32)
        #expect(request.maxBytes == 1 << 30)
        #expect(request.maxRedirects == 3)
        #expect(request.onConflict == .skip)
        #expect(!request.syncsToDisk && !request.usesServerTime && request.recordsDigests)
        var trust = TrustRules()
        trust.strict = true
        trust.allowsUnprovenParts = true
        trust.resumesUnproven = true
        trust.failsOnChange = true
        trust.allowsDowngrade = true
        #expect(request.trust == trust)
        let configuration = plan.configuration
        #expect(configuration.maxConcurrentDownloads == 5)
        #expect(configuration.rateLimit == 5_000_000)
        #expect(request.maxRetries == DownloadRequest.mostRetries)
        #expect(request.minFreeBytes == 0)
        #expect(request.stallTimeout == .seconds(30))
        #expect(request.minSpeed == 102_400)
        #expect(request.connection.connectTimeout == .milliseconds(2500))
        #expect(request.connection.userAgent == "agent")
        #expect(request.connection.insecure)
        #expect(request.connection.addressFamily == .v6)
        #expect(request.connection.proxy?.description == "http://p:3128")
        #expect(request.connection.cookies?.header(for: request.sources[0], now: Date()) == "a=b")
        #expect(configuration.transfer.connectionsPerHost == 32)
        #expect(plan.output == OutputOptions(result: .paths(end: 0), detail: .quiet, showsProgress: false))
    }

    @Test("GetPlanner: any file can be gone on with by its URL, and the error without one says so")
    func halfFile() throws {
        let world = PlanningWorld.test(files: ["half.bin": ""])
        let plan = try Self.plan(.of("half.bin", Self.url), world)
        #expect(try Self.request(plan).destination == .part("half.bin"))
        let error = #expect(throws: UsageError.self) { try Self.plan(.of("half.bin"), world) }
        #expect(error?.message.contains("ferry get half.bin URL") == true)
    }

    @Test("GetPlanner: a checksum of none drops that of an earlier run, for any number of files")
    func noChecksum() throws {
        let options = GetOptions.of(Self.url, "http://h/g.iso") { $0.files.checksum = "none" }
        let request = try Self.request(try Self.plan(options), 1)
        #expect(request.checksum == nil && request.ignoresEarlierChecksum)
        #expect(try !Self.request(Self.plan(.of(Self.url))).ignoresEarlierChecksum)
    }

    @Test("GetPlanner: a CA file without a certificate is refused, and one with a certificate is used")
    func caFile() throws {
        let options = GetOptions.of(Self.url) { $0.request.caFile = "ca.pem" }
        let error = #expect(throws: UsageError.self) {
            try Self.plan(options, .test(files: ["ca.pem": "-----BEGIN CERTIFICATE-----\n"]))
        }
        #expect(error?.message == "--ca-file: ca.pem holds no certificate in PEM form")
        let text = "subject\n-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
        #expect(try Self.request(Self.plan(options, .test(files: ["ca.pem": text]))).connection.certificates == text)
    }

    @Test("GetPlanner: the environment names proxies and the file of certificates, and --proxy leaves only no_proxy")
    func environment() throws {
        let variables = ["http_proxy": "u:pw@a:1", "no_proxy": "local.test", "SSL_CERT_FILE": "/etc/own.pem"]
        let settings = try Self.plan(.of(Self.url), .test(environment: variables)).configuration.transfer
        #expect(settings.proxy.proxy(for: try DownloadURL(Self.url))?.port == 1)
        #expect(settings.caFile == "/etc/own.pem")
        let direct = GetOptions.of(Self.url) { $0.request.proxy = "b:2" }
        let plan = try Self.plan(direct, .test(environment: ["http_proxy": "nonsense", "no_proxy": "local.test"]))
        let own = plan.configuration.transfer.with(try Self.request(plan).connection).proxy
        #expect(own.proxy(for: try DownloadURL(Self.url))?.port == 2)
        #expect(own.proxy(for: try DownloadURL("http://local.test/")) == nil)
        #expect(throws: UsageError.self) {
            try Self.plan(.of(Self.url), .test(environment: ["http_proxy": "nonsense"]))
        }
        #expect(
            try Self.plan(.of(Self.url), .test(environment: ["SSL_CERT_FILE": ""])).configuration.transfer.caFile == nil
        )
    }

    @Test("GetPlanner: a cookie file without a cookie in Netscape format is refused, one with comments only is not")
    func cookieFile() throws {
        let options = GetOptions.of(Self.url) { $0.request.loadCookies = "jar" }
        let error = #expect(throws: UsageError.self) {
            try Self.plan(options, .test(files: ["jar": #"[{"name": "a"}]"#]))
        }
        #expect(error?.message.hasPrefix("--load-cookies: jar is not a Netscape cookie file") == true)
        #expect(throws: Never.self) { try Self.plan(options, .test(files: ["jar": "# Netscape HTTP Cookie File\n"])) }
    }

    @Test("GetPlanner: the open file limit bounds files and connections")
    func openFiles() throws {
        let options = GetOptions.of(Self.url) { $0.run.parallel = 8 }
        let plan = try Self.plan(options, .test(openFileLimit: 64))
        #expect(plan.configuration.maxConcurrentDownloads == 7)
        #expect(plan.configuration.transfer.connectionsPerHost == 8)
        #expect(try Self.request(plan).maxConnections == 1)
    }

    private static let refusals: [(GetOptions, String)] = [
        (.of(), "no URL given"),
        (.of("-", url), "-: to write to standard output, use -o -"),
        (.of("nosuch"), "\"nosuch\" is neither a file here nor a URL"),
        (.of("notes.txt"), "neither a file here nor a URL"),
        (.of("dir/f.iso"), "neither a file here nor a URL"), (.of("../f"), "neither a file here nor a URL"),
        (.of("ftp://h/f"), "ftp"),
        (.of("http://"), "http"),
        (.of("list.txt"), "to read URLs from it use -i"),
        (.of("gone.part"), "there is no part file gone.part"),
        (.of(url, url + "2") { $0.files.output = "x" }, "-o needs exactly one URL"),
        (.of("a.part") { $0.files.output = "x" }, "-o needs exactly one URL"),
        (
            .of(url) {
                $0.files.output = "x"; $0.files.lists = ["list.txt"]
            }, "-o needs exactly one URL"
        ),
        (.of(url, url + "2") { $0.files.mirror = [url] }, "--mirror needs exactly one URL"),
        (
            .of(url, url + "2") { $0.files.checksum = "md5:" + String(repeating: "0", count: 32) },
            "--checksum ALG:HEX needs exactly one URL"
        ),
        (.of(url) { $0.files.checksum = "sha256:zz" }, "--checksum"),
        (.of(url) { $0.files.checksum = "@nowhere" }, "nowhere"),
        (.of(url) { $0.files.lists = ["missing.txt"] }, "cannot read list missing.txt: No such file"),
        (.of(url) { $0.files.directory = "/readonly/x" }, "cannot write to directory /readonly/x"),
        (.of(url) { $0.files.output = "/readonly/x/f" }, "cannot write to directory /readonly/x"),
        (.of(url) { $0.files.output = "/d" }, "is a directory"),
        (.of(url) { $0.files.output = "name/" }, "is a directory"),
        (.of(url) { $0.files.output = "" }, "-o needs a name"),
        (.of(url) { $0.files.directory = "" }, "-d needs a directory"),
        (.of(url) { $0.request.common.header = ["nocolon"] }, "--header"),
        (.of(url) { $0.request.common.header = ["A: b\r\nC: d"] }, "--header"),
        (.of(url) { $0.request.common.header = ["Range: bytes=0-1"] }, "set by ferry itself"),
        (.of(url) { $0.request.common.header = ["@none.txt"] }, "cannot read header file none.txt"),
        (.of(url) { $0.request.limitRate = "fast" }, "--limit-rate"),
        (
            .of(url) { $0.request.limitRate = "5" },
            "--limit-rate 5 is 5 bytes per second: write a unit, as in --limit-rate 5M, or 5B"
        ),
        (.of(url) { $0.request.minSpeed = "999" }, "--min-speed 999 is 999 bytes per second"),
        (.of(url) { $0.request.maxSize = "-1" }, "--max-size"),
        (.of(url) { $0.request.maxSize = "0" }, "--max-size needs a number of 1 or more"),
        (.of(url) { $0.request.maxRedirects = -1 }, "--max-redirects"),
        (.of(url) { $0.request.maxRedirects = 1001 }, "--max-redirects needs a number from 0 to 1000"),
        (.of(url) { $0.request.minFree = "99999999999G" }, "--min-free"),
        (.of(url) { $0.request.retries = "-1" }, "--retries"),
        (.of(url) { $0.request.retries = "many" }, "--retries"),
        (.of(url) { $0.request.common.connectTimeout = "0" }, "--connect-timeout"),
        (.of(url) { $0.request.stallTimeout = "soon" }, "--stall-timeout"),
        (.of(url) { $0.files.onConflict = "ask" }, "--on-conflict"),
        (.of(url) { $0.run.parallel = 0 }, "-j"),
        (.of(url) { $0.request.connections = -1 }, "--connections needs a number of 1 or more"),
        (
            .of(url) {
                $0.request.ipv4 = true; $0.request.ipv6 = true
            }, "-4 and -6"
        ),
        (
            .of(url) {
                $0.show.quiet = true; $0.show.verbose = true
            }, "-q and -v"
        ),
        (
            .of(url) {
                $0.show.json = true; $0.files.output = "-"
            }, "--json and -o -"
        ),
        (
            .of(url) {
                $0.show.json = true; $0.show.print0 = true
            }, "--json and --print0"
        ),
        (.of(url) { $0.request.user = "me" }, "no terminal"),
        (.of(url) { $0.request.netrc = true }, "neither NETRC nor HOME"),
        (.of(url) { $0.request.loadCookies = "c.txt" }, "cannot read cookie file c.txt"),
        (.of(url) { $0.request.caFile = "ca.pem" }, "cannot read CA file ca.pem"),
        (.of(url) { $0.request.proxy = "foo" }, "--proxy: \"foo\" is not a proxy"),
        (.of(url) { $0.request.proxy = "ftp://p" }, "--proxy"),
        (.of("a.part", url, url + "2"), "ferry get NAME.part NEWURL"),
        (.of(url, "a.part"), "ferry get NAME.part NEWURL"),
        (.of("a.part") { $0.files.directory = "/d" }, "-d cannot be used with part files"),
    ]

    @Test("GetPlanner: each example in the message about a rate is a rate that is accepted")
    func rateExamples() throws {
        func plan(_ rate: String) throws { _ = try Self.plan(.of(Self.url) { $0.request.limitRate = rate }) }
        let error = #expect(throws: UsageError.self) { try plan("abc") }
        let message = try #require(error?.message)
        let examples = try #require(message.split(separator: "write it like ").last)
            .replacingOccurrences(of: " or ", with: ", ").components(separatedBy: ", ")
        #expect(examples == ["100B", "5M", "1.5GB", "1GiB"], "\(message)")
        for example in examples { try plan(example) }
    }

    @Test("GetPlanner: unusable options are refused in one line", arguments: refusals)
    func refuses(options: GetOptions, part: String) {
        let world = PlanningWorld.test(files: ["list.txt": "http://h/1\n", "a.part": ""])
        do {
            _ = try GetPlanner.plan(options, world: world)
            Issue.record("this was accepted; expected: \(part)")
        } catch {
            #expect(error.message.contains(part), "\(error.message)")
            #expect(!error.message.contains("\n"))
        }
    }

    @Test("GetPlanner: a part file is resumed, from a new URL when one is given")
    func parts() throws {
        let world = PlanningWorld.test(files: ["x/a.part": "", "a.part.ferry": ""], directories: [".", "x"])
        let alone = try Self.request(Self.plan(.of("x/a.part"), world))
        #expect(alone.destination == .part("x/a.part"))
        #expect(alone.sources.isEmpty)
        let renewed = try Self.request(Self.plan(.of("a.part.ferry", "http://new/f"), world))
        #expect(renewed.destination == .part("a.part.ferry"))
        #expect(renewed.sources.map(\.text) == ["http://new/f"])
        #expect(try Array(Self.plan(.of("x/a.part", "a.part.ferry"), world).items).count == 2)
        guard case .parts(let directory, _)? = try Array(Self.plan(.of("x"), world).items).first else {
            Issue.record("a directory stands for its part files")
            return
        }
        #expect(directory == "x")
    }

    @Test("GetPlanner: a password that is missing is read from the terminal")
    func asksForPassword() throws {
        let request = try Self.request(Self.plan(.of(Self.url) { $0.request.user = "me" }, .test(password: "typed")))
        #expect(request.credentials == Credentials(user: "me", password: "typed"))
    }

    @Test("GetPlanner: netrc credentials go to their own host, and not to a mirror on another one")
    func netrc() throws {
        let world = PlanningWorld.test(
            files: ["/home/me/.netrc": "machine h login me password p@ss/w:rd\n"], environment: ["HOME": "/home/me"])
        let options = GetOptions.of(Self.url) {
            $0.request.netrc = true
            $0.files.mirror = ["http://other/f.iso"]
        }
        let request = try Self.request(Self.plan(options, world))
        #expect(request.sources[0].credentials == Credentials(user: "me", password: "p@ss/w:rd"))
        #expect(request.sources[0].text == Self.url)
        #expect(request.sources[1].credentials == nil)
        #expect(request.credentials == nil)
    }

    @Test("GetPlanner: a list puts files below the directory only, unless --trust-list is given")
    func listPlaces() throws {
        let outside = [
            "out=../../.profile", "out=/etc/x", "out=a/../../b", "out=.bashrc", "out=a/.b", "dir=/x", "dir=..",
            "dir=.config", "dir=/d/.config", "out=/d/a/../../x", "dir=/database", "dir=/",
        ]
        let inside = ["out=b", "out=a/b..c", "dir=./sub", "dir=a/b", "out=b..", "dir=/d", "dir=/d/sub", "out=/d/x"]
        let text = (outside + inside).enumerated().map { "http://h/\($0)\n  \($1)\n" }.joined()
        for (isTrusted, count) in [(false, inside.count), (true, outside.count + inside.count)] {
            let plan = try Self.plan(
                .of {
                    $0.files.lists = ["-"]; $0.files.directory = "/d"; $0.files.trustList = isTrusted
                }, .test(files: ["-": text]))
            #expect(plan.items.compactMap(\.request).count == count)
            #expect(plan.badLines.count == outside.count + inside.count - count)
            #expect(plan.badLines.allSatisfy { $0.utf8.contains("--trust-list") })
            for (line, place) in zip(plan.badLines, outside) {
                #expect(line.utf8.contains("\"\(place.dropFirst(4))\" leads out of the directory in use"), "\(line)")
            }
        }
    }

    @Test("GetPlanner: a list applies the options of its entries and reports malformed lines by number")
    func list() throws {
        let text = """
            # comment
            http://h/a\thttp://m/a
              out=b.iso
              dir=sub
              header=X-A: 1
            nonsense
            http://h/c
              dir=/readonly/y
            http://h/d
              header=Range: bytes=0-
            http://h/e
            """
        let plan = try Self.plan(
            .of {
                $0.files.lists = ["-"]; $0.files.directory = "/d"; $0.files.trustList = true
            }, .test(files: ["-": text]))
        #expect(plan.items.compactMap(\.request).count == 2)
        let first = try Self.request(plan)
        #expect(first.sources.map(\.text) == ["http://h/a", "http://m/a"])
        #expect(first.destination == .file("sub/b.iso"))
        #expect(first.headers[HTTPField.Name("X-A")!] == "1")
        let last = try Self.request(plan, 2)
        #expect(last.sources.map(\.text) == ["http://h/e"])
        #expect(last.destination == .directory("/d"))
        let badLines = plan.badLines
        #expect(badLines.count == 3)
        #expect(badLines[0].hasPrefix("standard input: line 6: "))
        #expect(badLines[1].hasPrefix("standard input: line 7: cannot write to directory /readonly/y"))
        #expect(badLines[2].hasPrefix("standard input: line 9: the header Range"))
    }

    @Test("GetPlanner: a device or FIFO is written to as it is, and names of standard output stand for it")
    func streams() throws {
        var world = PlanningWorld.test()
        let kind = world.kind
        world.kind = { $0 == "/dev/null" || $0 == "fifo" ? .stream : kind($0) }
        world.openStream = { path throws(UsageError) in
            guard path != "fifo" else { throw UsageError("cannot write to fifo") }
            return 7
        }
        func plan(_ output: String) throws -> GetPlan {
            try Self.plan(.of(Self.url) { $0.files.output = output }, world)
        }
        #expect(try Self.request(plan("/dev/null")).destination == .stream(7))
        #expect(try plan("/dev/null").output.result == .paths(end: 0x0A))
        for name in ["-", "/dev/stdout"] {
            #expect(try Self.request(plan(name)).destination == .stream(1))
            #expect(try plan(name).output.result == .body)
        }
        #expect(throws: UsageError.self) { try plan("fifo") }
    }
}
