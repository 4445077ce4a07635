import Ferry
import FerryTerminal
import FerryTesting
import Foundation
import Testing

/// Runs over a list that are killed at any byte of their results.
@Suite("ResultsLog") struct ResultsLogTests {
    private final class Place: Sendable {
        let path = FileManager.default.temporaryDirectory.appending(path: "ferry-results-\(UUID().uuidString)").path

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var data: Data { (try? Data(contentsOf: URL(filePath: path))) ?? Data() }
        var text: String { String(decoding: data, as: UTF8.self) }

        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

        /// The line numbers of results, in the order of the file; those of one run may be torn.
        var endedLines: [Int] {
            text.split(separator: "\n").compactMap { line in
                guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                else { return nil }
                return object["line"] as? Int
            }
        }
    }

    private static let console = Console(output: { _ in true }, error: { _ in true }, width: { 80 })

    private static func plan(_ place: Place, lists: [String: String], shard: String? = nil) throws -> GetPlan {
        try GetPlanner.plan(
            .of {
                $0.files.lists = lists.keys.sorted()
                $0.outcome.results = place.path
                $0.files.shard = shard
            }, world: .test(files: lists))
    }

    private static func open(
        _ place: Place, _ list: String, shard: String? = nil
    ) throws -> (plan: GetPlan, log: ResultsLog) {
        let plan = try plan(place, lists: ["l": list], shard: shard)
        return (plan, try #require(try ResultsLog.open(plan, console)))
    }

    /// Ends an entry with a line of its own.
    private static func end(_ log: ResultsLog, _ item: PlannedItems.Placed) throws {
        let (place, request) = (try #require(item.place), try #require(item.item.request))
        let line = ResultLine(ResultSubject(request: request, place: place), .ok, Date(timeIntervalSince1970: 0))
        #expect(log.end(line, place.key, .completed) == nil)
    }

    private static func list(_ count: Int) -> String {
        (1...count).map { "# a comment\nhttp://h/\($0)\n  out=\($0)\n" }.joined()
    }

    /// What opening the file of a place says; `nil` if it is opened.
    private static func refusal(_ place: Place) throws -> String? {
        do {
            _ = try open(place, list(2))
            return nil
        } catch let error as UsageError { return error.message }
    }

    /// The path was that of the file in the staging directory.
    @Test("ResultLine: a failed upload has the URL of its object as path, or the prefix as directory")
    func upload() throws {
        var request = DownloadRequest(sources: [try DownloadURL("http://h/f")], destination: .file("/staging/1-1"))
        request.uploadTo = try DownloadURL("s3://bucket/data/a%20b")
        func line() -> ResultLine {
            .failed(
                DownloadError(.network, "no way to h"), ResultSubject(request: request, place: nil), attempts: 1,
                Date(timeIntervalSince1970: 0))
        }
        #expect(line().path == "s3://bucket/data/a%20b" && line().directory == nil)
        request.uploadTo = try DownloadURL("s3://bucket/data/")
        request.destination = .directory("/staging")
        #expect(line().path == nil && line().directory == "s3://bucket/data/")
    }

    @Test(
        "ResultsLog: a file that is reached through a link, has other names, or that others own or may write to is not used"
    )
    func ownership() throws {
        let place = Place()
        do {
            let (_, log) = try Self.open(place, Self.list(2))
            #expect(log.begin() == nil)
        }
        let text = place.text
        let target = place.path + "-target"
        defer { unlink(target) }
        #expect(rename(place.path, target) == 0 && symlink(target, place.path) == 0)
        #expect(try Self.refusal(place)?.contains("symbolic link") == true)
        unlink(place.path)
        // A link that leads nowhere makes no file there.
        #expect(symlink(target + "-new", place.path) == 0)
        #expect(try Self.refusal(place) != nil && !FileManager.default.fileExists(atPath: target + "-new"))
        unlink(place.path)
        #expect(link(target, place.path) == 0)
        #expect(try Self.refusal(place) != nil)
        unlink(target)
        #expect(chmod(place.path, 0o666) == 0)
        #expect(try Self.refusal(place) != nil)
        #expect(chmod(place.path, 0o600) == 0)
        if geteuid() == 0 {
            #expect(chown(place.path, 4321, 4321) == 0)
            #expect(try Self.refusal(place)?.contains("4321") == true)
            #expect(chown(place.path, 0, 0) == 0)
        }
        #expect(place.text == text)
        #expect(try Self.refusal(place) == nil)
    }

    @Test(
        "ResultsLog: whenever a run is killed, the next one takes what has no line, and nothing else", arguments: 0..<4)
    func killed(seed: UInt64) throws {
        let (place, count) = (Place(), 2500)
        let list = Self.list(count)
        var random = SeededGenerator(seed: seed)
        var runs = 0
        while true {
            let before = Set(place.endedLines)
            let (plan, log) = try Self.open(place, list)
            #expect(log.begin() == nil)
            runs += 1
            var items = plan.items.makeIterator(resuming: log.resumed)
            var open: [PlannedItems.Placed] = []
            var isAtEnd = false
            var steps = seed == 0 && runs > 20 ? Int.max : Int.random(in: 1...3000, using: &random)
            while steps > 0, !(isAtEnd && open.isEmpty) {
                steps -= 1
                if !isAtEnd, open.count < 64, open.isEmpty || Bool.random(using: &random) {
                    guard let item = items.nextPlaced() else {
                        isAtEnd = true
                        continue
                    }
                    #expect(!before.contains(try #require(item.place).line))
                    #expect(log.take(try #require(item.place)) == nil)
                    open.append(item)
                } else if !open.isEmpty {
                    // The first entry may last as long as all others.
                    let index = Int.random(in: open.count > 1 ? 1..<open.count : 0..<1, using: &random)
                    try Self.end(log, open.remove(at: index))
                }
            }
            if isAtEnd, open.isEmpty {
                #expect(log.finish() == nil)
                #expect(log.counts.completed == count)
                break
            }
            withExtendedLifetime(log) {}
            // The last line is torn.
            if Bool.random(using: &random), let end = place.text.dropLast().lastIndex(of: "\n") {
                let text = place.text
                let torn = text[end...].dropFirst().prefix(Int.random(in: 1...40, using: &random)).dropLast(1)
                try place.write(String(text[...end]) + torn)
            }
        }
        let lines = place.endedLines
        #expect(runs > 1)
        #expect(lines.count == count)
        #expect(Set(lines) == Set((1...count).map { 3 * $0 - 1 }))
        let checkpoints = place.text.split(separator: "\n").filter { $0.hasPrefix("{\"checkpoint\"") }
        #expect(checkpoints.map(\.utf8.count).max() ?? 0 < 40_000)
    }

    @Test("ResultsLog: the last checkpoint goes on without the start of the list")
    func seeks() throws {
        let place = Place()
        let (plan, log) = try Self.open(place, Self.list(2500))
        #expect(log.begin() == nil)
        for item in sequence(state: plan.items.makeIterator(), next: { $0.nextPlaced() }).prefix(2000) {
            #expect(log.take(try #require(item.place)) == nil)
            try Self.end(log, item)
        }
        let resumed = try #require(try Self.resumed(place, Self.list(2500)))
        #expect(resumed.last?.number == 2000 - 2000 % 1024)
        #expect(resumed.ended.count == 2000 % 1024)
    }

    private static func resumed(_ place: Place, _ list: String, shard: String? = nil) throws -> BatchCursor? {
        // A copy, as the file of the first run is locked.
        let copy = Place()
        try copy.write(place.text)
        return try open(copy, list, shard: shard).log.resumed
    }

    @Test("ResultsLog: another list, another shard begins anew; lines that are appended to the list are read")
    func identity() throws {
        let place = Place()
        let list = Self.list(1499) + "http://h/last"
        let (plan, log) = try Self.open(place, list)
        for item in sequence(state: plan.items.makeIterator(), next: { $0.nextPlaced() }) {
            #expect(log.take(try #require(item.place)) == nil)
            try Self.end(log, item)
        }
        #expect(log.finish() == nil)
        #expect(try Self.resumed(place, list)?.last?.number == 1500)
        let longer = list + "\nhttp://h/more\n"
        #expect(try Self.resumed(place, longer)?.last?.number == 1500)
        let copy = Place()
        try copy.write(place.text)
        let (more, moreLog) = try Self.open(copy, longer)
        let rest = Array(sequence(state: more.items.makeIterator(resuming: moreLog.resumed), next: { $0.nextPlaced() }))
        #expect(rest.compactMap(\.place?.number) == [1501])
        // The last line was not complete when it was read.
        #expect(try Self.resumed(place, list + "ing\n") == nil)
        #expect(try Self.resumed(place, "http://other/\n" + list) == nil)
        #expect(try Self.resumed(place, list.replacing("http://h/1490\n", with: "http://h/xxxxx\n")) == nil)
        #expect(try Self.resumed(place, list, shard: "1/1") == nil)
        let other = try Self.open(copy2(place), "http://other/\n").log
        #expect(other.resumed == nil)
        #expect(
            other.notice?.description.hasSuffix("its results are of another list; this list begins at its first line")
                == true)
    }

    private func copy2(_ place: Place) throws -> Place {
        let copy = Place()
        try copy.write(place.text)
        return copy
    }

    @Test(
        "ResultsLog: a file that is none, or is damaged, is refused and left as it is",
        arguments: [
            "http://h/a\n", "\n", "{}\n", "{\"a\":1}\n", "PK\u{3}", "{\"checkpoint\":{}}\n",
            "{\"checkpoint\":1,\"v\":1}\n",
            """
            {"checkpoint":{"completed":0,"exitCodes":[],"failed":0,"heads":[{"bytes":99999999999,"digest":""}],"open":[[0,-1,0,0]]},"v":1}

            """,
        ])
    func refused(text: String) throws {
        let place = Place()
        try place.write(text)
        #expect(throws: UsageError.self) { try Self.open(place, "http://h/a\n") }
        #expect(place.text == text)
    }

    @Test("ResultsLog: a checkpoint with impossible numbers is that of another list or refused, and traps nowhere")
    func impossible() throws {
        let head = #"{"bytes":11,"digest":"x"}"#
        for (heads, last, open) in [
            ("\(head),\(head)", "[0,1,0,1]", ""), ("null", "[7,1,0,1]", ""), ("null", "[0,1,9000000000000,1]", ""),
            ("null", "[0,1,0,9223372036854775807]", ""), ("null", "[0,2,3,4]", "[0,1,0]"),
            (#"{"bytes":-1,"digest":"x"}"#, "[0,1,0,1]", ""),
        ] {
            let place = Place()
            try place.write(
                #"{"checkpoint":{"completed":1,"exitCodes":[99],"failed":0,"heads":[\#(heads)],"last":\#(last),"near":"x","open":[\#(open)]},"v":1}"#
                    + "\n")
            #expect((try? Self.open(place, "http://h/a\n").log.resumed) == nil)
        }
    }

    @Test("ResultsLog: a file that another run has open is refused")
    func locked() throws {
        let place = Place()
        let first = try Self.open(place, "http://h/a\n")
        let error = #expect(throws: UsageError.self) { try Self.open(place, "http://h/a\n") }
        #expect(
            error?.message
                == "--results \(place.path): another process writes to it; give each process a file of its own")
        withExtendedLifetime(first) {}
    }

    @Test("ResultsLog: the file is its user's alone, as queries may hold signatures")
    func mode() throws {
        let place = Place()
        let log = try Self.open(place, "http://h/a\n")
        let mode = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        withExtendedLifetime(log) {}
    }
}
