import ArgumentParser
import Ferry
import FerryCore
import FerryTerminal
import HTTPTypes
import Testing

@testable import FerryAria2

@Suite("Plans of aria2c") struct Aria2PlannerTests {
    private static let url = "http://h/f.iso"

    private func job(
        _ arguments: [String], files: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> Aria2Planner.Job {
        try Aria2Planner.plan(
            try Aria2Arguments(arguments), standard: try GetOptions.parse([]),
            world: .test(files: files, environment: environment), absolute: { Paths.join("/home/me", $0) },
            gid: { "00000000000000ab" })
    }

    private func run(
        _ arguments: [String], files: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> Aria2Planner.Run {
        guard case .downloads(let run) = try job(arguments, files: files, environment: environment) else {
            throw Aria2Failure(.unknown, "a daemon")
        }
        return run
    }

    private func requests(
        _ arguments: [String], files: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> [DownloadRequest] {
        try run(arguments, files: files, environment: environment).plan.items.compactMap(\.request)
    }

    @Test("Aria2Planner: the options of a download become those of a request")
    func request() throws {
        let request = try #require(
            try requests([
                "-d", "/d", "-o", "g.iso", "-x4", "-s", "6", "-U", "agent", "--referer=*", "--header=A: 1", "-t", "20",
                "--connect-timeout", "5", "-m", "3", "--check-certificate=false", "--http-user=me", "--http-passwd=pw",
                "--checksum=md5=00000000000000000000000000000000", "--max-download-limit=2K", "--lowest-speed-limit=1K",
                "--allow-overwrite=true",
                "--all-proxy=http://p:1", "--all-proxy-user=a@b", "--all-proxy-passwd=c", "--disable-ipv6=true", "-R",
                Self.url, "http://i/f.iso",
            ]).first)
        #expect(request.sources.map(\.text) == [Self.url, "http://i/f.iso"])
        #expect(request.destination == .file("/d/g.iso") && request.onConflict == .overwrite)
        #expect(request.maxConnections == 6 && request.rateLimit == 2048 && request.maxRetries == 2)
        #expect(request.headers[values: .referer] == [Self.url] && request.headers.count == 2)
        #expect(request.connection.userAgent == "agent" && request.connection.insecure)
        #expect(request.connection.addressFamily == .v4 && request.connection.connectTimeout == .seconds(5))
        #expect(request.stallTimeout == .seconds(20) && request.minSpeed == 1024 && request.usesServerTime)
        #expect(request.credentials?.password == "pw" && request.checksum?.algorithm == .md5)
        #expect(request.id?.rawValue == "00000000000000ab")
        let proxy = try ProxyChoice(parsing: "http://a%40b:c@p:1")
        #expect(request.connection.proxy == proxy)
    }

    @Test("Aria2Planner: the defaults are those of aria2, and without -x as many connections as Ferry finds best")
    func defaults() throws {
        let request = try #require(try requests([Self.url]).first)
        #expect(request.destination == .directory(".") && request.onConflict == .rename)
        #expect(request.maxRetries == 4 && !request.usesServerTime && request.maxConnections == 16)
        #expect(try requests(["-x2", Self.url, "http://i/f"])[0].maxConnections == 4)
        #expect(try requests(["-s3", Self.url])[0].maxConnections == 3)
        #expect(try requests(["--auto-file-renaming=false", Self.url])[0].onConflict == .fail)
        #expect(try run([Self.url]).plan.configuration.maxConcurrentDownloads == 5)
        #expect(try run(["--max-overall-download-limit=1M", Self.url]).plan.configuration.rateLimit == 1 << 20)
    }

    @Test("Aria2Planner: URIs are mirrors, with -Z files of their own, and with -P what they stand for")
    func uris() throws {
        let two = [Self.url, "http://i/g"]
        #expect(try requests(two).map(\.sources.count) == [2])
        #expect(try requests(["-Z"] + two).map(\.sources.count) == [1, 1])
        #expect(try requests(["-P", "http://{a,b}/f"]).map(\.sources.count) == [2])
        #expect(try requests(["-P", "-Z", "http://h/[1-3]"]).map { $0.sources[0].text }.last == "http://h/3")
    }

    @Test("Aria2Planner: a list's options are over those of the command line, and headers add up")
    func list() throws {
        let text = "http://a/f\n  out=x\n  header=B: 2\n  gid=0123456789abcdef\nhttp://b/g\n  dir=/e\n  bogus=1\n"
        let run = try run(
            ["-i", "l", "-d", "/d", "--header=A: 1", "http://c/h"], files: ["l": text])
        let requests = run.plan.items.compactMap(\.request)
        #expect(requests.map(\.destination) == [.file("/d/x"), .directory("/e"), .directory("/d")])
        // The header of the command line, which may be a secret, is for the server of its own URI alone.
        #expect(requests.map(\.headers.count) == [1, 0, 1])
        #expect(requests[0].id?.rawValue == "0123456789abcdef")
        #expect(
            run.warnings == [
                "Unknown option: bogus=1",
                "credentials and secret headers of the command are for http://c alone: 2 downloads do without",
            ])
    }

    @Test(
        "Aria2Planner: secrets of the command are for the server of the first URI alone; of a list, for its only server",
        arguments: [
            (["-i", "one"], ["a"]), (["-i", "l", "http://c/h"], ["c"]),
            (["-Z", "http://b/1", "http://a/2", "http://b/3"], ["b"]),
            (["http://c/h", "x.meta4"], ["c"]), (["http://c/h", "http://a/m"], ["c"]),
        ])
    func secrets(arguments: [String], servers: [String]) throws {
        let document = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><url>http://d/f</url></file></metalink>
            """
        let files = [
            "l": "http://a/f\nhttp://b/g\thttp://a/g\nhttp://a/k\n", "one": "http://a/f\thttp://b/f\nhttp://a/g\n",
            "x.meta4": document,
        ]
        for secret in [
            ["--header=X-Key: sesame"], ["--http-user=me", "--http-passwd=sesame"], ["--header", "Cookie: s=sesame"],
        ] {
            let run = try run(["--header=Accept: a/b"] + secret + arguments, files: files)
            let requests = run.plan.items.compactMap(\.request)
            var left = 0
            for request in requests {
                let isGiven = servers.contains(try #require(request.sources.first).host)
                #expect(request.hasSecrets == isGiven, "\(request)")
                #expect(request.headers[.accept] == "a/b")
                if !isGiven { left += 1 }
            }
            #expect(requests.contains { $0.hasSecrets })
            #expect(run.warnings.count == (left > 0 ? 1 : 0))
        }
    }

    @Test(
        "Aria2Planner: a list or document that leads to several servers gets no secrets, and a sentence says so",
        arguments: [["-i", "l"], ["-i", "one", "x.meta4"]])
    func severalServers(arguments: [String]) throws {
        let document = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><url>http://d/f</url></file></metalink>
            """
        let files = [
            "l": "http://a/f\nhttp://b/g\n  header=X-Own: 1\n", "one": "http://a/f\nhttp://a/g\n", "x.meta4": document,
        ]
        let run = try run(
            ["--http-user=me", "--http-passwd=sesame", "--header=X-Key: sesame"] + arguments, files: files)
        let requests = run.plan.items.compactMap(\.request)
        #expect(requests.count >= 2)
        for request in requests {
            #expect(request.credentials == nil)
            #expect(request.headers.allSatisfy { $0.name.rawName == "X-Own" })
        }
        let warning = try #require(run.warnings.first)
        #expect(run.warnings.count == 1 && warning.contains("there are several (http://a, http://"), "\(warning)")
    }

    @Test(
        "Aria2Planner: an entry with its own proxy, or without certificates, gets no secrets, cookies and netrc",
        arguments: [
            ("all-proxy=http://evil:9102", true), ("http-proxy=http://evil:1", true), ("https-proxy=", true),
            ("no-proxy=good", true), ("check-certificate=false", true), ("check-certificate=true", false),
            ("no-netrc=false\n  all-proxy=http://evil:1", true), ("out=x", false),
        ])
    func ownRoutes(option: String, isOwnRoute: Bool) throws {
        let files = [
            "l": "http://good/x\n  \(option)\nhttp://good/y\n", "n": "machine good login me password sesame\n",
            "jar": "good\tFALSE\t/\tFALSE\t0\ta\tsesame\n",
        ]
        for secret in [["--header", "Authorization: Bearer T"], ["--http-user=me"]] {
            for own in [[], ["http://good/own"]] {
                let run = try run(
                    secret + ["--load-cookies=jar", "-i", "l"] + own, files: files, environment: ["NETRC": "n"])
                let requests = run.plan.items.compactMap(\.request)
                let expected = [!isOwnRoute, true] + own.map { _ in true }
                #expect(requests.map(\.hasSecrets) == expected)
                #expect(requests.map { $0.connection.cookies != nil } == expected)
                #expect(run.warnings.count == (isOwnRoute ? 1 : 0), "\(run.warnings)")
            }
        }
        let plain = try run(["-i", "l"], files: files, environment: ["NETRC": "n"])
        let requests = plain.plan.items.compactMap(\.request)
        #expect(requests.map { $0.sources.first?.credentials != nil } == [!isOwnRoute, true])
        #expect((plain.plan.configuration.transfer.netrc == nil) == isOwnRoute)
        #expect(plain.warnings.count == (isOwnRoute ? 1 : 0))
    }

    @Test("Aria2Option: each proxy or certificate option of an entry makes its own route")
    func routes() throws {
        let named = Aria2Option.all.filter(\.isOfLists).map(\.name).filter {
            $0.utf8.hasSuffix("proxy") || $0.utf8.hasSuffix("certificate")
        }
        #expect(Set(named) == ["all-proxy", "http-proxy", "https-proxy", "no-proxy", "check-certificate"])
        for name in named {
            let (entries, _) = try Aria2Files.entries("http://h/f\n  \(name)=false\n")
            #expect(entries[0].values.bringsOwnRoute, "\(name)")
        }
    }

    @Test("Aria2Planner: the fields of a header file are sent, the secret ones to the server of the first URI alone")
    func headerFile() throws {
        let files = ["h": "Accept: a/b\n# no\nX-Key: sesame\n", "l": "http://b/g\n"]
        let requests = try requests(["--header", "@h", "-i", "l", "http://a/f"], files: files)
        let key = try #require(HTTPField.Name("X-Key"))
        #expect(requests.map { $0.sources[0].host } == ["b", "a"])
        #expect(requests.map { $0.headers[.accept] } == ["a/b", "a/b"])
        #expect(requests.map { $0.headers[key] } == [nil, "sesame"])
        #expect(throws: Aria2Failure.self) { try self.requests(["--header", "@missing", "http://a/f"]) }
    }

    @Test("Aria2Planner: a field or a name of an entry replaces that of the command")
    func replaced() throws {
        let text = """
            http://a/1
              header=x-key: own
              header=X-Two: 2
            http://a/2
              header=Authorization: Bearer own
            http://a/3
              http-user=own
            """
        let requests = try requests(
            ["--header=X-Key: 1", "--header=Authorization: Bearer T", "--http-user=me", "-i", "l"], files: ["l": text])
        let key = try #require(HTTPField.Name("X-Key"))
        #expect(requests.map { $0.headers[values: key] } == [["own"], ["1"], ["1"]])
        #expect(requests.map { $0.headers[values: .authorization] } == [["Bearer T"], ["Bearer own"], []])
        #expect(requests.map { $0.credentials?.user } == ["me", nil, "own"])
    }

    @Test(
        "Aria2Planner: an entry of a list has its own secrets, and none of the command's for its own name, proxy or file"
    )
    func ownSecrets() throws {
        let text = """
            http://a/1
              http-user=x
            http://b/2
              http-user=y
              http-passwd=own
              header=X-Key: 2
            http://b/3
              all-proxy=http://q:1
            http://b/4
            """
        let command = [
            "--http-user=me", "--http-passwd=sesame", "--all-proxy=http://p:1", "--all-proxy-user=me",
            "--all-proxy-passwd=sesame", "-i", "l",
        ]
        let requests = try requests(command, files: ["l": text])
        #expect(requests.map { $0.credentials?.password } == ["", "own", nil, nil])
        #expect(requests.map(\.headers.count) == [0, 1, 0, 0])
        let proxies = requests.map { $0.connection.proxy?.server?.credentials?.password }
        #expect(proxies == ["sesame", "sesame", nil, "sesame"])
        #expect(throws: Aria2Failure.self) {
            try self.requests(
                ["-i", "l"], files: ["l": "http://a/1\n  header=@private\n", "private": "X-Key: sesame"])
        }
    }

    @Test("Aria2Planner: a Metalink document alone gets the command's secrets only if the user confirms its server")
    func documentSecrets() throws {
        let document = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><url>http://d/f</url></file></metalink>
            """
        for (answer, isSent) in [(true, true), (false, false), (nil, false)] as [(Bool?, Bool)] {
            let plan = {
                try Aria2Planner.plan(
                    try Aria2Arguments(["--http-user=me", "x.meta4"]), standard: try GetOptions.parse([]),
                    world: .test(files: ["x.meta4": document], answer: answer), gid: { "00000000000000ab" })
            }
            guard isSent else {
                #expect(throws: Aria2Failure.self) { try plan() }
                continue
            }
            guard case .downloads(let run) = try plan() else { throw Aria2Failure(.unknown, "a daemon") }
            #expect(run.plan.items.compactMap(\.request).allSatisfy { $0.hasSecrets })
        }
    }

    @Test("Aria2Planner: a Metalink document gives its files, and one that cannot be used is status 20")
    func metalink() throws {
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f"><size>3</size><url>http://a/f</url>\
            </file></metalink>
            """
        for arguments in [["-M", "x"], ["x.meta4"]] {
            let request = try requests(arguments, files: ["x": text, "x.meta4": text])[0]
            #expect(request.destination == .file("f") && request.expectedBytes == 3 && request.maxRetries == 4)
        }
        let failure = #expect(throws: Aria2Failure.self) { try requests(["-M", "x"], files: ["x": "<a/>"]) }
        #expect(failure?.status == .metalink)
    }

    @Test(
        "Aria2Planner: a file with a control file, or with -c any, is gone on with; one of Ferry's own is its own",
        arguments: [
            (["-o", "g"], ["g", "g.aria2"], true), ([], ["f.iso", "f.iso.aria2"], true), (["-c"], ["f.iso"], true),
            ([], ["f.iso"], false), (["-c"], [], false), ([], ["f.iso.aria2"], false),
            (["-c"], ["f.iso", "f.iso.part.ferry"], false),
        ])
    func unfinished(arguments: [String], files: [String], isPart: Bool) throws {
        let world = Dictionary(uniqueKeysWithValues: files.map { ($0, "") })
        let request = try requests(arguments + [Self.url], files: world)[0]
        #expect((request.destination == .part(files.first ?? "")) == isPart, "\(request.destination)")
    }

    @Test(
        "Aria2Planner: with -c or a control file, a file that was downloaded from the same URL is whole, not the beginning of one"
    )
    func downloaded() throws {
        for (words, files, url, isWhole) in [
            (["-c"], ["f.iso": ""], Self.url, true), (["-c"], ["f.iso": ""], "http://other/f.iso", false),
            ([], ["f.iso": "", "f.iso.aria2": ""], Self.url, true),
            ([], ["f.iso": "", "f.iso.aria2": ""], "http://other/f.iso", false),
        ] {
            var world = PlanningWorld.test(files: files)
            world.hasDownloaded = { $0 == "./f.iso" && $1 == url || $0 == "f.iso" && $1 == url }
            let job = try Aria2Planner.plan(
                try Aria2Arguments(words + [Self.url]), standard: try GetOptions.parse([]), world: world,
                absolute: { Paths.join("/home/me", $0) }, gid: { "00000000000000ab" })
            guard case .downloads(let run) = job else { throw Aria2Failure(.unknown, "a daemon") }
            let destination = try #require(run.plan.items.compactMap(\.request).first).destination
            #expect((destination == .part("f.iso")) == !isWhole, "\(destination)")
        }
    }

    @Test("Aria2Planner: settings are read unless --no-conf is given, and the command line is over them")
    func settings() throws {
        let files = ["/home/.aria2/aria2.conf": "dir=/d\nsplit=3\n", "own": "dir=/e\n"]
        let home = ["HOME": "/home"]
        #expect(try requests([Self.url, "-s2"], files: files, environment: home)[0].destination == .directory("/d"))
        #expect(try requests([Self.url, "-s2"], files: files, environment: home)[0].maxConnections == 2)
        #expect(
            try requests([Self.url, "--no-conf"], files: files, environment: home)[0].destination == .directory("."))
        #expect(try requests([Self.url, "--conf-path=own"], files: files)[0].destination == .directory("/e"))
    }

    @Test(
        "Aria2Planner: each failure has aria2's status",
        arguments: [
            ([], .unknown), (["ftp://h/f"], .unknown), (["f"], .unknown), (["-x17", url], .option),
            (["--checksum=x", url], .option), (["--gid=1", url], .option), (["-i", "missing"], .unknown),
            (["-d", "/readonly", url], .cannotMakeDirectory), (["--enable-rpc", "--rpc-listen-port=80"], .option),
            (["--enable-rpc", "--rpc-secure", url], .option),
            (["--console-log-level=loud", url], .option), (["--download-result=no", url], .option),
        ] as [([String], Aria2ExitStatus)])
    func failures(arguments: [String], status: Aria2ExitStatus) {
        let failure = #expect(throws: Aria2Failure.self) { try run(arguments) }
        #expect(failure?.status == status, "\(failure?.message ?? "")")
    }

    @Test("Aria2Planner: --enable-rpc is a daemon, whose paths are absolute, with the options as defaults")
    func service() throws {
        let job = try job(
            [
                "--enable-rpc", "--rpc-listen-port=7000", "--rpc-secret=s", "-d", "d", "-j2", "-x4",
                "--header=Accept: 1", "--header=Accept-Language: 2", "--max-overall-download-limit=1K",
                "--rpc-listen-all", "--on-download-complete=p", "-i", "list", "--stop-with-process=9",
                "--save-session=list",
            ], files: ["list": "\(Self.url)\n  out=g\n  gid=00000000000000cd\n  pause=true\n"])
        guard case .service(let service) = job else {
            Issue.record("no daemon: \(job)")
            return
        }
        #expect(service.port == 7000 && service.secret == "s" && service.directory == "/home/me/d")
        #expect(service.parallel == 2 && service.rateLimit == 1024 && service.life.process == 9)
        #expect(service.defaults["header"] == "Accept: 1\nAccept-Language: 2")
        #expect(service.defaults["max-connection-per-server"] == "4")
        #expect(service.defaults["dir"] == nil)
        #expect(service.requests.map(\.destination) == [.file("/home/me/d/g")])
        #expect(service.requests.map(\.id) == [DownloadID(bits: 0xCD)] && service.requests[0].startsPaused)
        #expect(
            service.warnings == [
                "ferry ignores --rpc-listen-all, --save-session",
                "ferry ignores --on-download-complete with --enable-rpc",
            ])
        guard case .service(let standard) = try self.job(["--enable-rpc"]) else { return }
        #expect(standard.port == 6800 && standard.secret == nil && standard.directory == "/home/me")
        #expect(standard.requests.isEmpty && standard.warnings.isEmpty)
    }

    @Test("Aria2Planner: a daemon's defaults have no secrets of the command, and a sentence says so")
    func serviceSecrets() throws {
        let files = ["h": "Accept: a/b\nAuthorization: Bearer sesame\n"]
        for secret in [
            ["--header=Authorization: Bearer sesame"], ["--http-user=me", "--http-passwd=sesame"], ["--header=@h"],
        ] {
            let job = try job(["--enable-rpc", "--header=Referer: http://r/"] + secret + [Self.url], files: files)
            guard case .service(let service) = job else {
                Issue.record("no daemon: \(job)")
                return
            }
            #expect(service.defaults["http-user"] == nil && service.defaults["http-passwd"] == nil)
            let header = try #require(service.defaults["header"])
            #expect(header.contains("Referer: http://r/") && !header.contains("sesame") && !header.contains("@"))
            #expect(service.warnings.count == 1 && service.warnings[0].contains("not used for what clients add"))
            // The URI of the command is of the server that the secrets are for.
            #expect(service.requests.map(\.hasSecrets) == [true])
        }
    }

    @Test("Aria2Hooks: the program for every end is used where there is none for this one")
    func hooks() throws {
        let one = try run(["--on-download-stop=s", "--on-download-complete=c", Self.url]).hooks
        #expect(one.complete == "c" && one.error == "s" && one.start == nil)
    }
}
