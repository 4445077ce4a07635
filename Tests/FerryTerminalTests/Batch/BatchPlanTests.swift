import Ferry
import FerryTerminal
import Testing

@Suite("Lists as batches") struct BatchPlanTests {
    private static func plan(_ list: String, _ change: @escaping (inout GetOptions) -> Void = { _ in }) throws
        -> GetPlan
    {
        try GetPlanner.plan(
            .of {
                $0.files.lists = ["l"]
                change(&$0)
            }, world: .test(files: ["l": list]))
    }

    @Test("PlannedItems: each entry knows its line, the offset of that line, and its number")
    func places() throws {
        let list = "\u{FEFF}http://h/a\r\n  out=x\n\n# no\nftp://h/b\nhttp://h/c nope\n  checksum=x\nhttp://h/d"
        let plan = try Self.plan(list)
        let items = Array(sequence(state: plan.items.makeIterator(), next: { $0.nextPlaced() }))
        #expect(items.compactMap(\.place?.line) == [1, 5, 6, 8])
        #expect(items.compactMap(\.place?.number) == [1, 2, 3, 4])
        let offsets = items.compactMap(\.place?.offset)
        let bytes = Array(list.utf8)
        #expect(
            offsets.map { String(decoding: bytes[$0...].prefix(8), as: UTF8.self) } == [
                "http://h", "ftp://h/", "http://h", "http://h",
            ])
        #expect(items.compactMap(\.unusable).map(\.url?.text) == [nil, "http://h/c%20nope"])
    }

    @Test("PlannedItems: every place of a list gives the same entry again, after lines of any length too")
    func again() throws {
        let long = String(repeating: "x", count: (1 << 20) + 5)
        let list = "http://h/1\nhttp://h/\(long)\n  out=dropped\nhttp://h/2\n  out=two\n\(long)\nhttp://h/3\n"
        let plan = try Self.plan(list)
        let items = Array(sequence(state: plan.items.makeIterator(), next: { $0.nextPlaced() }))
        #expect(
            items.map { $0.item.request?.sources.first?.text } == ["http://h/1", nil, "http://h/2", nil, "http://h/3"])
        #expect(items.compactMap(\.place?.line) == [1, 2, 4, 6, 7])
        for index in items.indices {
            var cursor = BatchCursor()
            for item in items[...index] {
                let place = try #require(item.place)
                _ = cursor.take(place)
                if place != items[index].place { cursor.end(place.key, .completed) }
            }
            let rest = Array(sequence(state: plan.items.makeIterator(resuming: cursor), next: { $0.nextPlaced() }))
            #expect(rest.map(\.item) == items[index...].map(\.item), "\(index)")
            #expect(rest.map(\.place) == items[index...].map(\.place), "\(index)")
        }
    }

    /// A second run said "2 of 4 files" for two, and failed although both were complete then.
    @Test("BatchCursor: arguments are requested by each run, and do not count in the next")
    func arguments() {
        var cursor = BatchCursor()
        for outcome in [BatchCursor.Outcome.completed, .failed(.refused)] { cursor.end(nil, outcome) }
        #expect(cursor == BatchCursor())
    }

    @Test("PlannedItems: several lists go on in the list in which the run ended")
    func severalLists() throws {
        let plan = try GetPlanner.plan(
            .of { $0.files.lists = ["a", "b"] },
            world: .test(files: ["a": "http://h/1\nhttp://h/2\n", "b": "http://h/3\nhttp://h/4\n"]))
        let items = Array(sequence(state: plan.items.makeIterator(), next: { $0.nextPlaced() }))
        #expect(items.compactMap(\.place?.list) == [0, 0, 1, 1])
        var cursor = BatchCursor()
        for place in items.prefix(3).compactMap(\.place) { _ = cursor.take(place) }
        cursor.end(try #require(items[1].place).key, .completed)
        cursor.end(try #require(items[2].place).key, .completed)
        let rest = Array(sequence(state: plan.items.makeIterator(resuming: cursor), next: { $0.nextPlaced() }))
        #expect(rest.compactMap { $0.item.request?.sources.first?.text } == ["http://h/1", "http://h/4"])
    }

    @Test("--shard: each entry of a list is in one part, and has the same number in it")
    func shards() throws {
        let list = (1...60).map { "http://host\($0 % 7).example/\($0)\n" }.joined() + "nothing\n"
        var seen: [String: Int] = [:]
        for number in 1...3 {
            let plan = try Self.plan(list) {
                $0.files.shard = "\(number)/3"
                $0.files.name = "{n}"
            }
            for request in plan.items.compactMap(\.request) {
                guard case .file(let path) = request.destination else { continue }
                #expect(request.sources.first?.text.hasSuffix("/\(path)") == true)
                seen[path, default: 0] += 1
            }
            let bad = plan.items.count { if case .unusable = $0 { true } else { false } }
            #expect(bad == (number == 1 ? 1 : 0))
            #expect(plan.items.estimateFiles().count == Array(plan.items).count)
        }
        #expect(seen.count == 60 && seen.values.allSatisfy { $0 == 1 })
        let error = #expect(throws: UsageError.self) {
            try GetPlanner.plan(.of("http://h/a") { $0.files.shard = "1/2" }, world: .test())
        }
        #expect(error?.message == "--shard divides a list; give -i LIST")
    }

    @Test("--name: entries and arguments get its paths below their directories, but for those with a name")
    func names() throws {
        let plan = try GetPlanner.plan(
            .of("http://h/arg.bin") {
                $0.files.lists = ["l"]
                $0.files.directory = "/d"
                $0.files.name = "{n}/{name}"
                $0.files.trustList = true
            }, world: .test(files: ["l": "http://h/a\n  dir=/d/sub\nhttp://h/b\n  out=own\n"], directories: ["/d"]))
        #expect(
            plan.items.compactMap(\.request?.destination) == [
                .file("/d/1/arg.bin"), .file("/d/sub/2/a"), .file("/d/own"),
            ])
        let error = #expect(throws: UsageError.self) {
            try GetPlanner.plan(
                .of("http://h/a") {
                    $0.files.name = "x"
                    $0.files.output = "y"
                }, world: .test())
        }
        #expect(error?.message == "--name and -o cannot be used together")
    }

    @Test("PlannedItems: the files of a long list are estimated from its start, so that nothing waits for its end")
    func estimate() throws {
        let line = Array("http://h/abcdefgh\n".utf8)
        let piece = Array(repeatElement(line, count: 4096).joined())
        let size = 1000 * piece.count
        var world = PlanningWorld.test()
        world.openList = { name throws(UsageError) in
            ListFile(name: name, size: size) { offset in
                #expect(offset < 2 << 20)
                return piece
            }
        }
        let plan = try GetPlanner.plan(.of { $0.files.lists = ["l"] }, world: world)
        #expect(plan.items.estimateFiles() == (4_096_000, true))
        var whole = WholeProgress(fileCount: 4_096_000, finishedCount: 1)
        whole.isEstimate = true
        #expect(whole.label == "1 of about 4096000 files")
        whole.failedCount = 2
        #expect(whole.label == "1 of about 4096000 files, 2 failed")
    }

    @Test(
        "--results -: it needs standard output for itself",
        arguments: [
            ("--json", { @Sendable in $0.show.json = true }), ("--print0", { @Sendable in $0.show.print0 = true }),
        ]
            as [(String, @Sendable (inout GetOptions) -> Void)])
    func alone(name: String, change: @escaping @Sendable (inout GetOptions) -> Void) {
        let error = #expect(throws: UsageError.self) {
            try Self.plan("http://h/a\n") {
                $0.outcome.results = "-"
                change(&$0)
            }
        }
        #expect(error?.message == "--results - and \(name) both need standard output")
    }
}
