import ArgumentParser
import Ferry
import FerryCore
@testable import FerryFleet
import FerryTerminal
import Testing

@Suite("Arguments of the fleet's commands") struct FleetPlannerTests {
    @Test(
        "DatabaseAddress: neither errors nor descriptions have the password",
        arguments: [
            ("postgres://ferry:secret@db.test:5432/fleet?sslmode=require", "postgres://ferry@db.test:5432/fleet"),
            ("postgresql://db.test/fleet", "postgresql://db.test/fleet"),
            ("postgres://a:b:secret@h@db.test/f", "postgres://a@db.test/f"),
        ])
    func address(text: String, shown: String) throws {
        #expect(try DatabaseAddress(text).description == shown)
    }

    @Test(
        "DatabaseAddress: other texts are refused without being repeated",
        arguments: [
            "mysql://u:secret@h/d", "secret", "postgres://h/d?password=secret", "postgres://u:secret@h/ d",
            "postgres://u:se#secret@h/d", "postgres://u:a?secret@h/d", "postgres://u:secret@h/d#f",
        ])
    func noAddress(text: String) {
        let error = #expect(throws: UsageError.self) { try DatabaseAddress(text) }
        #expect(error?.message.contains("secret") == false)
    }

    @Test("WorkerIdentity: databases that only parameters tell apart have two directories, passwords do not")
    func directories() throws {
        func directory(_ text: String) throws -> String {
            WorkerIdentity.standard(for: try DatabaseAddress(text), environment: ["HOME": "/home/u"])
        }
        #expect(try directory("postgres:///f?host=/run/a") != directory("postgres:///f?host=/run/b"))
        #expect(try directory("postgres://u:one@h/f") == directory("postgres://u:two@h/f"))
    }

    @Test("FleetPlanner: hosts, rates and names are checked")
    func values() throws {
        #expect(try FleetPlanner.host("*") == "*")
        #expect(try FleetPlanner.host("Example.COM") == "example.com")
        #expect(try FleetPlanner.host("example.com.") == "example.com")
        for text in ["a/b", "a b", "a@b", "a:80x", "", "a?b"] {
            #expect(throws: UsageError.self, "\(text)") { try FleetPlanner.host(text) }
        }
        #expect(try FleetPlanner.rate("5/s") == 5)
        #expect(try FleetPlanner.rate("0.5") == 0.5)
        for text in ["0", "-1", "1e5", "nan", "/s", "200000"] {
            #expect(throws: UsageError.self, "\(text)") { try FleetPlanner.rate(text) }
        }
        #expect(FleetPlanner.standardName("lists/My URLs (2).txt") == "my-urls--2-")
        #expect(FleetPlanner.standardName("-") == "batch")
    }

    @Test("FleetPlanner: a batch goes into an absolute directory or below a prefix of objects")
    func addition() throws {
        func plan(_ words: String...) throws -> FleetPlanner.Addition {
            try FleetPlanner.addition(FleetAddArguments.parse(["postgres://h/d", "list.txt"] + words))
        }
        #expect(
            try plan("--into", "/data")
                == FleetPlanner.Addition(name: "list", directory: "/data", partRows: 5_000_000))
        #expect(try plan("--into", "s3://bucket/p").directory == "s3://bucket/p/")
        for words in [["--into", "s3://"], ["--into", "s3://b?p"], ["--into", "data"], ["--into", "/a/../b"]] {
            #expect(throws: UsageError.self) {
                try FleetPlanner.addition(FleetAddArguments.parse(["postgres://h/d", "list.txt"] + words))
            }
        }
        #expect(throws: UsageError.self) { try plan("--into", "/data", "--part-rows", "700") }
        #expect(throws: UsageError.self) { try plan("--into", "/data", "--batch", "A/B") }
    }

    @Test("FleetPlanner: batches have priorities, and are removed by name or by age")
    func batches() throws {
        func priority(_ text: String) throws -> Int {
            let words = ["postgres://h/d", "list.txt", "--into", "/data", "--priority=\(text)"]
            return try FleetPlanner.addition(FleetAddArguments.parse(words)).priority
        }
        #expect(try priority("-1000") == -1000)
        #expect(try priority("7") == 7)
        #expect(throws: UsageError.self) { try priority("1001") }
        func removal(_ words: String...) throws -> FleetPlanner.Removal {
            try FleetPlanner.removal(FleetRemoveArguments.parse(["postgres://h/d"] + words))
        }
        #expect(try removal("--batch", "a") == .named("a"))
        #expect(try removal("--done-for", "30d") == .done(.seconds(30 * 86_400)))
        #expect(throws: UsageError.self) { try removal() }
        #expect(throws: UsageError.self) { try removal("--batch", "a", "--done-for", "1d") }
        #expect(throws: UsageError.self) { try removal("--done-for", "soon") }
    }

    @Test("FleetStore: migrations of a newer version are refused, also among known ones")
    func newer() {
        let known = FleetSchema.migrations.map(\.name)
        #expect(throws: Never.self) { try FleetStore.checkIsKnown([]) }
        #expect(throws: Never.self) { try FleetStore.checkIsKnown(known.dropLast()) }
        #expect(throws: DatabaseError.self) { try FleetStore.checkIsKnown(known + ["later"]) }
    }

    @Test("FleetText: rates, times and reasons stand in the tables, and what is not known is a dash")
    func tables() {
        var batch = BatchStatus(
            name: "a", state: "open", directory: "/d", priority: 0, total: 10, completed: 5, failed: 2, leased: 1,
            waiting: 2, failures: [])
        #expect(
            FleetText.table([batch]) == [
                "BATCH  STATE  TOTAL  COMPLETED  FAILED  LEASED  WAITING  RATE  LEFT",
                "a      open      10          5       2       1        2     -     -",
            ])
        (batch.rowsPerSecond, batch.secondsLeft) = (2.25, 65)
        #expect(FleetText.table([batch])[1].hasSuffix("2.3/s  1m 05s"))
        batch.rowsPerSecond = 1234.6
        #expect(FleetText.table([batch])[1].hasSuffix("1234/s  1m 05s"))
        batch.failures = [
            BatchStatus.Failures(reason: "refused", httpStatus: 404, files: 2),
            BatchStatus.Failures(reason: "\u{1B}[2J", httpStatus: nil, files: 1),
        ]
        let lines = FleetText.failures([batch])
        #expect(lines[0] == "a: 2 failed: refused 404")
        #expect(!lines[1].utf8.contains(0x1B))
        let worker = WorkerStatus(name: "w", secondsSilent: 3.4, holdsLeases: true, leases: 7)
        #expect(FleetText.table([worker]) == ["WORKER  STATE    SILENT  LEASES", "w       working      3s       7"])
    }

    @Test("ListCopy: rows are numbered, cut at partitions, and escaped; unusable lines are reported")
    func copy() throws {
        var text = "# a list\nhttp://h.test/a\\b\nnonsense\n"
        for index in 0..<1000 { text += "http://h.test/\(index)\thttp://m.test/\(index)\n" }
        var problems: [Int] = []
        var copy = ListCopy(ListFile(name: "list", text: text), batch: 7, partRows: 500) { problems.append($0.line) }
        var pieces: [ListCopy.Piece] = []
        while let piece = try copy.next() { pieces.append(piece) }
        #expect(pieces.map(\.part) == [0, 1, 2])
        #expect(pieces.map(\.isFirst) == [true, true, true])
        #expect(copy.total == 1001)
        #expect(problems == [3])
        let lines = String(decoding: pieces[0].bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 500)
        #expect(lines[0].hasPrefix("7\t1\thttp://h.test/a"))
        #expect(lines[1] == "7\t2\thttp://h.test/0\\thttp://m.test/0\t\\N")
    }

    @Test("FleetPlanner: a worker connects to public addresses alone, unless private ones are allowed")
    func privateAddresses() throws {
        for (words, isAllowed) in [([], false), (["--allow-private"], true)] as [([String], Bool)] {
            #expect(try Self.work(words).template.network.allowsPrivate == isAllowed)
        }
    }

    @Test("FleetPlanner: each download is one attempt, and a server is given up by as many as a row has")
    func retries() throws {
        for (words, retries) in [([], 4), (["--retries", "0"], 0), (["--retries", "9"], 9)] as [([String], Int)] {
            let plan = try Self.work(words)
            #expect(plan.retries == retries)
            #expect(plan.configuration.maxRetries == retries + 1)
            #expect(plan.configuration.waitsForServers == false)
            let row = FleetRow(
                try FleetRowTests.lease(), number: 5, urls: "http://h.test/a", checksum: nil, within: plan.bounds)
            #expect(plan.request(of: row, from: row.request.sources).maxRetries == 0)
            // An upload makes its attempts itself: most of them are requests to the store.
            let upload = FleetRow(
                try FleetRowTests.lease(into: "s3://bucket/p"), number: 5, urls: "http://h.test/a", checksum: nil,
                within: try WorkerBounds(into: "s3://bucket", allowsObjects: false))
            #expect(plan.request(of: upload, from: upload.request.sources).maxRetries == retries)
        }
        #expect(try Self.work(["--retries", "inf"]).configuration.maxRetries == DownloadRequest.mostRetries)
        #expect(throws: UsageError.self) { try Self.work(["--retries=-1"]) }
    }

    @Test("FleetPlanner: headers are sent to all servers, those that may be secret to the one that the user names")
    func headers() throws {
        let words = ["-H", "Accept: text/plain", "-H", "X-Key: k", "--header-server", "api.test", "-A", "me/1"]
        let transfer = try Self.work(words + ["--connect-timeout", "3"]).configuration.transfer
        let home = Origin(of: try DownloadURL("https://api.test/"))
        #expect(transfer.header("Accept") == "text/plain")
        #expect(transfer.header("X-Key", for: home) == "k")
        #expect(transfer.header("X-Key") == nil)
        #expect(transfer.header("X-Key", for: Origin(of: try DownloadURL("http://api.test/"))) == nil)
        #expect(transfer.userAgent == "me/1")
        #expect(transfer.connectTimeout == .seconds(3))
        for words in [
            ["-H", "X-Key: k"], ["--header-server", "api.test"], ["-H", "X-Key: k", "--header-server", "api.test/a"],
            ["-H", "X-Key: k", "--header-server", "http://u:p@api.test"], ["-H", "Range: bytes=0-"],
            ["--connect-timeout", "0"],
        ] { #expect(throws: UsageError.self, "\(words)") { try Self.work(words) } }
    }

    @Test("FleetPlanner: a worker puts files below --into, else below the directory that it is started in")
    func bounds() throws {
        let here = OwnProgram.plain(".")
        #expect(try Self.work([]).bounds == WorkerBounds(place: .directory(here)))
        #expect(try Self.work(["--into", "/data/"]).bounds == WorkerBounds(place: .directory("/data")))
        let prefix = try DownloadURL("s3://bucket/p/")
        #expect(try Self.work(["--into", "s3://bucket/p"]).bounds == WorkerBounds(place: .objects(prefix)))
        let bounds = try Self.work(["--into", "/data", "--allow-s3-sources"]).bounds
        #expect(bounds == WorkerBounds(place: .directory("/data"), allowsObjects: true))
    }

    @Test("WorkerPlan: no symbolic link is followed below --into, unless any directory is allowed")
    func root() throws {
        for (into, directory, root) in [
            ("/data", "/data/a", "/data"), ("/", "/data/a", nil), ("s3://bucket/p", "s3://bucket/p", nil),
        ] as [(String, String, String?)] {
            let plan = try Self.work(["--into", into])
            let row = FleetRow(
                try FleetRowTests.lease(into: directory), number: 5, urls: "http://h.test/a", checksum: nil,
                within: plan.bounds)
            let request = plan.request(of: row, from: row.request.sources)
            #expect(request.root == root && request.sources == row.request.sources)
            guard case .file(let path) = request.destination else {
                Issue.record("no file: \(request.destination)")
                continue
            }
            #expect(Paths.isPlace(path, in: request.uploadTo == nil ? directory : plan.staging), "\(path)")
        }
    }

    private static func work(_ words: [String]) throws -> WorkerPlan {
        try FleetPlanner.work(
            try WorkArguments.parse(["postgres://h/d"] + words), state: "/state",
            standard: try GetOptions.parse([]), world: .system)
    }
}
