import FerryCore
import FerryEngine
import FerryTesting
import Foundation
import Testing

@Suite("The binary: results of lists", .serialized, .timeLimit(.minutes(30))) struct ResultsTests {
    private static let small = Resource(size: 1000, seed: 5)

    /// The results in a text, without checkpoints.
    private static func results(_ text: String) throws -> [[String: Any]] {
        try objects(text).filter { $0["checkpoint"] == nil }
    }

    private static func results(in place: Workplace, _ name: String = "r.jsonl") throws -> [[String: Any]] {
        try results(String(decoding: place.data(name), as: UTF8.self))
    }

    /// The members in docs/cli.md, with their types.
    private static func documented() throws -> [String: String] {
        try Documentation("cli.md").rows(after: "| member of a result |").reduce(into: [:]) { $0[$1[0]] = $1[1] }
    }

    @Test("ferry get -i: each entry gets one request, whether it is small, large, refused, missing or a page")
    func oneRequest() async throws {
        try await OriginServer.with { server in
            var paths = (0..<40).map { "/\($0).bin" }
            for path in paths { server.serve(path, Self.small) }
            for path in ["/large.bin", "/refused.bin", "/page.zip"] {
                server.serve(path, Resource(size: 3_000_000, seed: 6))
                paths.append(path)
            }
            paths.append("/missing.bin")
            server.always("/refused.bin", .status(403))
            server.always("/page.zip", .htmlPage())
            let place = try Workplace()
            try place.write(paths.map { server.url($0) + "\n" }.joined(), to: "list")
            let outcome = try await FerryProcess.run(
                ["get", "-i", "list", "--retries", "0", "-j", "4", "-x", "1", "--results", "r.jsonl"], in: place)
            #expect(outcome.code != 0)
            let counts = Dictionary(server.requests.map { ($0.path, 1) }, uniquingKeysWith: +)
            #expect(counts == Dictionary(uniqueKeysWithValues: paths.map { ($0, 1) }))
            let statuses = try Self.results(in: place).compactMap { $0["status"] as? String }
            #expect(statuses.count { $0 == "ok" } == 41 && statuses.count == 44, "\(outcome.error)")
        }
    }

    @Test("ferry get --results: each ended file and each unusable entry has a line with the documented members")
    func lines() async throws {
        try await OriginServer.with { server in
            server.serve("/a.bin", Self.small)
            server.serve("/b.bin", Self.small)
            server.serve("/wrong", Self.small)
            server.serve("/late", Self.small)
            server.always("/late", .stall(after: 10))
            let place = try Workplace()
            let digest =
                "sha-256=" + HexText.string(ByteDigest.of(Array(Self.small.bytes(0..<Self.small.size)), .sha256))
            let authority = server.url("").dropFirst("http://".count)
            try place.write(
                """
                \(server.url("/a.bin?sig=secret"))
                  checksum=\(digest)
                http://user:password@\(authority)/b.bin \(server.url("/mirror"))
                  out=sub/own.bin
                \(server.url("/gone"))\tnot here
                ftp://example.com/
                \(server.url("/wrong"))
                  checksum=md5=00000000000000000000000000000000
                \(server.url("/late"))
                \(server.url("/a.bin?sig=secret"))
                  checksum=\(digest)
                """, to: "list")
            let outcome = try await FerryProcess.run(
                ["get", "-i", "list", "--results", "r.jsonl", "--retries", "0", "--stall-timeout", "1", "-j", "1"],
                in: place)
            #expect(outcome.code == 7, "\(outcome.error)")
            let summaries = [" of 7 files, 4 failed, ", " of 6 files, 4 failed, "]
            #expect(summaries.contains { outcome.error.contains($0) }, "\(outcome.error)")
            let documented = try Self.documented()
            var lines: [Int: [String: Any]] = [:]
            for result in try Self.results(in: place) {
                for (member, value) in result {
                    let type =
                        value is String
                        ? "string" : value is [Any] ? "array" : member == "wasAlreadyComplete" ? "boolean" : "integer"
                    #expect(documented[member]?.hasPrefix(type) == true, "\(member)")
                }
                lines[try #require(result["line"] as? Int)] = result
            }
            #expect(lines.keys.sorted() == [1, 3, 5, 6, 7, 9, 10])
            func texts(_ line: Int, _ members: String...) -> [String?] { members.map { lines[line]?[$0] as? String } }
            #expect(
                texts(1, "status", "url", "path", "proof", "digest") == [
                    "ok", server.url("/a.bin?sig=secret"), place.path("a.bin"), "digest", digest,
                ])
            #expect(lines[1]?["bytes"] as? Int == 1000)
            #expect(lines[1]?["attempts"] as? Int == 1)
            #expect(texts(3, "status", "url", "path") == ["ok", server.url("/b.bin"), place.path("sub/own.bin")])
            #expect(lines[3]?["mirrors"] as? [String] == [server.url("/mirror")])
            #expect(
                texts(5, "status", "reason", "directory", "message") == [
                    "failed", "refused", place.url.path, "the server answered 404",
                ])
            #expect(lines[5]?["httpStatus"] as? Int == 404)
            #expect(lines[5]?["columns"] as? [String] == ["not here"])
            #expect(texts(6, "status", "reason", "url") == ["unusable", "invalidRequest", nil])
            #expect(
                texts(7, "status", "reason", "checksum") == [
                    "failed", "checksum", "md5=00000000000000000000000000000000",
                ])
            #expect(texts(9, "status", "reason") == ["failed", "timeout"])
            #expect(["ok", "duplicate"].contains(lines[10]?["status"] as? String))
            #expect(try !String(decoding: place.data("r.jsonl"), as: UTF8.self).contains("password"))
            #expect(outcome.lines.contains(place.path("a.bin")))
        }
    }

    @Test(
        "ferry get --results: each result has the columns of its line, also of one that fails, is unusable or is retried"
    )
    func columns() async throws {
        try await OriginServer.with { server in
            for name in ["a", "b", "c"] { server.serve("/\(name)", Self.small) }
            let place = try Workplace()
            let object =
                #""caption":"Ünïcode \"cats\"","id":9007199254740993,"score":0.5,"tags":["x",null],"n":{"k":true}"#
            try place.write(
                """
                \(server.url("/a"))\tA cat\t\t0.87
                {"url":"\(server.url("/b"))","out":"own",\(object)}
                {"urls":["\(server.url("/gone"))"],\(object)}
                {"url":"\(server.url("/c"))","out":"../out",\(object)}
                {"url":"\(server.url("/c"))"}
                """, to: "list")
            let outcome = try await FerryProcess.run(
                ["get", "-i", "list", "--results", "r.jsonl", "--retries", "0", "-j", "1"], in: place)
            #expect(outcome.code == 4, "\(outcome.error)")
            let expected = try #require(
                try JSONSerialization.jsonObject(with: Data("{\(object)}".utf8)) as? NSDictionary)
            let results = try Self.results(in: place).sorted { ($0["line"] as? Int ?? 0) < ($1["line"] as? Int ?? 0) }
            #expect(results.map { $0["status"] as? String } == ["ok", "ok", "failed", "unusable", "ok"], "\(results)")
            #expect(results[0]["columns"] as? [String] == ["A cat", "", "0.87"])
            #expect(results[1]["path"] as? String == place.path("own"))
            for result in results[1...3] { #expect(result["columns"] as? NSDictionary == expected, "\(result)") }
            #expect(results[4]["columns"] == nil)
            server.serve("/gone", Self.small)
            let again = try await FerryProcess.run(["get", "--retry-from", "r.jsonl", "--results", "-"], in: place)
            let retried = try Self.results(again.text)
            #expect(again.code == 0 && retried.map { $0["line"] as? Int } == [3], "\(again.error)")
            #expect(retried.first?["columns"] as? NSDictionary == expected)
        }
    }

    @Test(
        "ferry get --results: the same command goes on, appended lines of the list are fetched, another list begins anew"
    )
    func goesOn() async throws {
        try await OriginServer.with { server in
            for name in ["a", "b", "c"] { server.serve("/\(name)", Self.small) }
            let place = try Workplace()
            try place.write("\(server.url("/a"))\n\(server.url("/gone"))\n\(server.url("/b"))\n", to: "list")
            let words = ["get", "-i", "list", "--results", "r.jsonl", "--no-progress"]
            let first = try await FerryProcess.run(words, in: place)
            #expect(first.code == 4, "\(first.error)")
            let requests = server.requests.count
            let second = try await FerryProcess.run(words, in: place)
            #expect(second.code == 4)
            #expect(second.text.isEmpty)
            #expect(
                second.error.hasPrefix(
                    """
                    ferry: r.jsonl: continues after line 3; so far 2 complete, 1 failed
                    ferry: r.jsonl: no entry is left; --retry-from r.jsonl requests those that failed
                    2 of 3 files, 1 failed, 0 B in\u{20}
                    """), "\(second.error)")
            #expect(server.requests.count == requests)
            try place.write(
                "\(server.url("/a"))\n\(server.url("/gone"))\n\(server.url("/b"))\n\(server.url("/c"))\n", to: "list")
            let third = try await FerryProcess.run(words, in: place)
            #expect(third.lines == [place.path("c")], "\(third.error)")
            #expect(server.requests.count == requests + 1)
            // Another list.
            try place.write("\(server.url("/c"))\n", to: "list")
            let fourth = try await FerryProcess.run(words, in: place)
            #expect(fourth.code == 0)
            #expect(
                fourth.error.hasPrefix(
                    "ferry: r.jsonl: its results are of another list; this list begins at its first line\n"),
                "\(fourth.error)")
            #expect(try Self.results(in: place).compactMap { $0["line"] as? Int }.count == 5)
        }
    }

    @Test(
        "ferry get --results: of equal lines of a list one has the file, and the others are duplicates without copies")
    func equalLines() async throws {
        try await OriginServer.with { server in
            var random = Self.small
            (random.etag, random.lastModified) = (nil, nil)
            server.serve("/a", random)
            let place = try Workplace()
            try place.write(String(repeating: "\(server.url("/a"))\n", count: 20), to: "list")
            for (parallel, directory) in [("1", "one"), ("8", "many")] {
                let outcome = try await FerryProcess.run(
                    [
                        "get", "-i", "list", "-j", parallel, "-d", directory, "--name", "{name}", "--results",
                        "\(directory).jsonl",
                    ],
                    in: place)
                #expect(outcome.code == 0, "\(outcome.error)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: place.path(directory)) == ["a"])
                let results = try Self.results(in: place, "\(directory).jsonl").compactMap { $0["status"] as? String }
                #expect(results.count { $0 == "ok" } == 1 && results.count { $0 == "duplicate" } == 19, "\(results)")
            }
        }
    }

    @Test("ferry get -i: equal lines are one file, which is requested once while it is in progress, and has its name")
    func equalLinesAtOnce() async throws {
        try await OriginServer.with { server in
            server.serve("/a", Self.small)
            server.serve("/other", Self.small)
            let place = try Workplace()
            let (url, other) = (server.url("/a"), server.url("/other"))
            try place.write("\(url)\n\(url)\n\(other)\n\(url)\n", to: "list")
            let outcome = try await FerryProcess.run(["get", "-i", "list", "-d", "d"], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.path("d")).sorted() == ["a", "other"])
            #expect(Set(outcome.lines) == [place.path("d/a"), place.path("d/other")] && outcome.lines.count == 2)
            #expect(outcome.error.contains("2 of 2 files, "), "\(outcome.error)")
        }
    }

    @Test("ferry get: files behind a 503 with Retry-After wait for its server, and a line says which, and why")
    func behindDelay() async throws {
        try await OriginServer.with { server in
            for path in ["/busy", "/b", "/c"] { server.serve(path, Self.small) }
            server.script("/busy", [.status(503, retryAfter: "3")])
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-j", "1", "-d", "d"] + ["/busy", "/b", "/c"].map { server.url($0) }, in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            let lines = outcome.error.split(separator: "\n")
            let host = server.url("").dropFirst("http://".count)
            let waiting = lines.filter { $0.hasPrefix("b, c: waiting: \(host) asked to wait (503); next attempt at ") }
            #expect(waiting.count == 1, "\(outcome.error)")
        }
    }

    @Test("ferry get --retry-from: only the failures that are asked for are requested, as they were at first")
    func retries() async throws {
        try await OriginServer.with { server in
            for name in ["a", "b", "c"] { server.serve("/\(name)", Self.small) }
            server.script("/b", [.status(403)])
            server.script("/c", [.status(503)])
            let place = try Workplace()
            try place.write(
                "\(server.url("/a"))\n\(server.url("/b"))\n  out=./sub/own\n\(server.url("/c"))\n", to: "list")
            let first = try await FerryProcess.run(
                ["get", "-i", "list", "--results", "r.jsonl", "--retries", "0"], in: place)
            #expect(first.code == 4, "\(first.error)")
            let second = try await FerryProcess.run(
                ["get", "--retry-from", "r.jsonl", "--only", "403", "--results", "-"], in: place)
            #expect(second.code == 0, "\(second.error)")
            let results = try Self.results(second.text)
            #expect(results.map { $0["path"] as? String } == [place.path("sub/own")])
            let third = try await FerryProcess.run(
                ["get", "--retry-from", "r.jsonl", "--only", "refused", "--results", "r2.jsonl"], in: place)
            #expect(third.code == 0, "\(third.error)")
            // The lines are those of the list, and those of the results file are beside them.
            let retried = try Self.results(in: place, "r2.jsonl").sorted {
                ($0["line"] as? Int ?? 0) < ($1["line"] as? Int ?? 0)
            }
            #expect(retried.map { $0["line"] as? Int } == [2, 4], "\(retried)")
            #expect(retried.allSatisfy { ($0["entry"] as? Int ?? 0) > 0 })
            let again = try await FerryProcess.run(
                ["get", "--retry-from", "r.jsonl", "--only", "refused", "--results", "r2.jsonl"], in: place)
            #expect(again.code == 0 && again.text.isEmpty, "\(again.error)")
            #expect(Set(third.lines) == [place.path("sub/own"), place.path("c")])
            let none = try await FerryProcess.run(["get", "--retry-from", "r2.jsonl"], in: place)
            #expect(none.code == 0)
            #expect(none.error == "ferry: r2.jsonl: no failure in it to request again\n")
        }
    }

    @Test("ferry get: the total of a run has the bytes of a file that did not match its checksum")
    func totalOfFailed() async throws {
        try await OriginServer.with { server in
            for path in ["/a", "/b"] { server.serve(path, Resource(size: 3_000_000, seed: path == "/a" ? 1 : 2)) }
            let place = try Workplace()
            let zeros = String(repeating: "0", count: 32)
            try place.write("\(server.url("/a"))\n  checksum=md5=\(zeros)\n\(server.url("/b"))\n", to: "list")
            let outcome = try await FerryProcess.run(["get", "-i", "list"], in: place)
            #expect(outcome.code == 7)
            #expect(outcome.error.contains("1 of 2 files, 1 failed, 6.0 MB in "), "\(outcome.error)")
        }
    }

    @Test("ferry get --results: arguments are requested by each run, whose summary and exit code are of that run alone")
    func arguments() async throws {
        try await OriginServer.with { server in
            server.serve("/a", Resource(size: 1000, seed: 1))
            let place = try Workplace()
            let words = ["get", "--results", "r.jsonl", server.url("/a"), server.url("/b")]
            let first = try await FerryProcess.run(words, in: place)
            #expect(first.code == 4 && first.error.contains("1 of 2 files, 1 failed"), "\(first.error)")
            server.serve("/b", Resource(size: 1000, seed: 2))
            let second = try await FerryProcess.run(words, in: place)
            #expect(second.code == 0 && second.error.contains("2 of 2 files"), "\(second.error)")
            #expect(try Self.results(in: place).count == 4)
        }
    }

    @Test("ferry get -i: a file that is no text is refused in one line")
    func binary() async throws {
        let place = try Workplace()
        let bytes = "http://127.0.0.1:1/a\n".utf8 + [0, 1, 10, 7, 10, 200, 10]
        try Data(bytes).write(to: URL(filePath: place.path("list")))
        let outcome = try await FerryProcess.run(["get", "-i", "list"], in: place)
        #expect(outcome.code == 2 && outcome.error.contains("so it is not a list"), "\(outcome.error)")
        #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
    }

    @Test("ferry get -i - --results -: a worker requests each entry when it is there, and writes lines alone")
    func worker() async throws {
        try await OriginServer.with { server in
            for name in ["a", "b"] { server.serve("/\(name)", Self.small) }
            let place = try Workplace()
            try place.write("\(server.url("/a"))\n\(server.url("/b"))\n", to: "list")
            // The writer waits for the first result before it ends the list.
            let shell = #"""
                { cat list; while ! [ -s out ]; do sleep 0.05; done; } | "$@" > out; code=$?; cat out; exit $code
                """#
            let outcome = try await FerryProcess.run(
                ["get", "-i", "-", "--results", "-", "-q"], in: place, shell: shell)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.isEmpty)
            let results = try Self.results(outcome.text)
            #expect(results.map { $0["status"] as? String } == ["ok", "ok"])
            #expect(results.map { $0["line"] as? Int } == [1, 2])
        }
    }

    @Test("ferry get -i -: a signal ends a run that waits for its list")
    func signalWhileWaiting() async throws {
        try await OriginServer.with { server in
            server.serve("/a", Self.small)
            let place = try Workplace()
            try place.write("\(server.url("/a"))\n\(server.url("/a"))\n", to: "list")
            let shell = #"""
                mkfifo pipe; { cat list; exec sleep 60; } > pipe & writer=$!
                "$@" < pipe > out & run=$!
                while ! [ -s out ]; do sleep 0.05; done
                kill -INT $run; wait $run; code=$?; kill $writer; exit $code
                """#
            // A shell without job control lets its background jobs ignore SIGINT.
            let outcome = try await FerryProcess.run(
                ["get", "-i", "-", "--results", "-"], in: place, shell: shell.replacing("-INT", with: "-TERM"))
            #expect(outcome.code == 143, "\(outcome.error)")
        }
    }

    @Test(
        "ferry get --results: a run that is killed at any moment leaves one line for each file, and little is fetched twice"
    )
    func killed() async throws {
        try await OriginServer.with { server in
            let count = 150
            for index in 0..<count { server.serve("/\(index)", Self.small) }
            let place = try Workplace()
            try place.write((0..<count).map { "\(server.url("/\($0)"))\n" }.joined(), to: "list")
            var random = SeededGenerator(seed: 7)
            var kills = 0
            while true {
                let process = try FerryProcess(
                    ["get", "-i", "list", "-d", "out", "--results", "r.jsonl", "--no-fsync", "-q"], in: place)
                if kills < 12 {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 100...900, using: &random)))
                    process.signal(SIGKILL)
                    kills += 1
                }
                let outcome = try await process.outcome()
                if outcome.code == 0 { break }
                #expect(outcome.code == 128 + SIGKILL, "\(outcome.error)")
                if outcome.code != 128 + SIGKILL { break }
            }
            let results = try Self.results(in: place).filter { $0["status"] as? String == "ok" }
            #expect(results.count == count)
            #expect(Set(results.compactMap { $0["url"] as? String }).count == count)
            // Three files are fetched at a time; others may be complete without a line.
            let fetched = server.requests.count { $0.head.method == "GET" }
            #expect(fetched <= count + kills * 12, "\(fetched) requests, \(kills) kills")
            let names = try FileManager.default.contentsOfDirectory(atPath: place.path("out"))
            #expect(names.count { !$0.hasSuffix(".part") && !$0.hasSuffix(".ferry") } == count)
        }
    }

    @Test(
        "ferry get --results: a full disk ends the run, as results that are not written would be fetched again",
        .disabled(if: FerryProcess.isSanitized, "the thread sanitizer does not survive the limit"))
    func fullDisk() async throws {
        try await OriginServer.with { server in
            let names = (0..<40).map { "/file-\($0)" }
            for name in names { server.serve(name, Self.small) }
            let place = try Workplace()
            try place.write(names.map { "\(server.url($0))\n" }.joined(), to: "list")
            // The limit is that of the results: the files are smaller.
            let outcome = try await FerryProcess.run(
                ["get", "-i", "list", "--results", "r.jsonl", "--no-progress"], in: place,
                shell: #"ulimit -f 4; exec "$@""#)
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(outcome.error.contains("ferry: r.jsonl: the results cannot be written: File too large\n"))
            // The next run goes on after the torn line.
            let rest = try await FerryProcess.run(["get", "-i", "list", "--results", "r.jsonl"], in: place)
            #expect(rest.code == 0, "\(rest.error)")
            #expect(try Self.results(in: place).count == names.count)
        }
    }

    @Test("ferry plan --results is a usage error")
    func plan() async throws {
        let outcome = try await FerryProcess.run(["plan", "http://h/a", "--results", "r"], in: Workplace())
        #expect(outcome.code == 2)
        #expect(outcome.error == "ferry: --results works only with ferry get (see ferry plan --help)\n")
    }
}
