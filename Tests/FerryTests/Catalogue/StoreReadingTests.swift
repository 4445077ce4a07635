import FerryCore
import FerryTesting
import FerryEngine
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

@Suite("Reads of any store", .timeLimit(.minutes(30)))
struct StoreReadingTests {
    @Test("Store: every field of a row is read back unchanged", arguments: StoreKind.allCases)
    func roundTrip(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let full = try StoreBench.fullRow("full", downloads: bench.directory + "/files")
            let plain = try StoreBench.row("plain")
            try await bench.store.commit([.insert([full, plain])])
            #expect(try await bench.store.row("full") == full)
            #expect(try await bench.store.row("plain") == plain)
            #expect(try await bench.store.row("absent") == nil)
            #expect(try await bench.store.rows(["plain", "absent", "full"]) == [plain, full])
            #expect(bench.complaints.errors.isEmpty)
        }
    }

    @Test("Store: every state is read back unchanged, and its kind is in the index", arguments: StoreKind.allCases)
    func states(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            for (number, state) in StoreBench.states.enumerated() {
                try await bench.store.commit([.insert([StoreBench.row("\(number)", 0, Int64(number), state: state)])])
            }
            let rows = try await bench.store.page(.all, offset: 0, limit: 100)
            #expect(rows.map(\.state) == StoreBench.states)
            #expect(try await bench.store.load().map(\.kind) == StoreBench.states.map(StateKind.init))
            #expect(StateKind.allCases.count == StoreBench.states.count)
        }
    }

    @Test("Store: rows are listed by priority, position and identifier, in pages", arguments: StoreKind.allCases)
    func order(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let rows = try [
                StoreBench.row("e", -1, 0), StoreBench.row("d", 0, 7), StoreBench.row("b", 1, 5),
                StoreBench.row("c", 0, -2), StoreBench.row("a", 1, 5), StoreBench.row("A", .max, .max),
                StoreBench.row("z", .min, .min),
            ]
            try await bench.store.commit([.insert(rows)])
            #expect(try await bench.store.list() == ["A", "a", "b", "c", "d", "e", "z"])
            #expect(try await bench.store.load().map(\.id.rawValue) == ["A", "a", "b", "c", "d", "e", "z"])
            #expect(try await bench.store.list(offset: 2, limit: 3) == ["b", "c", "d"])
            #expect(try await bench.store.list(offset: 6, limit: 3) == ["z"])
            #expect(try await bench.store.list(offset: 9, limit: 3) == [])
            #expect(try await bench.store.list(offset: -1, limit: -1) == [])
        }
    }

    @Test("Store: identifiers are in the order of the rows, in every order", arguments: StoreKind.allCases)
    func identifiers(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            var rows: [CatalogueRow] = []
            for (index, name) in ["b", "A", "c", "B", "a"].enumerated() {
                var row = try StoreBench.row(
                    "\(index)", index % 2, Int64(index), state: StoreBench.states[index % StoreBench.states.count])
                row.name = name
                row.totalBytes = index == 2 ? nil : ByteCount(index % 3)
                rows.append(row)
            }
            try await bench.store.commit([.insert(rows)])
            var seen: Set<[DownloadID]> = []
            for column in ListSort.allCases {
                for isDescending in [false, true] {
                    let order = RowOrder(column, isDescending: isDescending)
                    let ids = try await bench.store.identifiers(.all, order: order)
                    #expect(try await bench.store.page(.all, order: order, offset: 0, limit: 9).map(\.id) == ids)
                    seen.insert(ids)
                }
            }
            #expect(seen.count > 3)
            #expect(try await bench.store.identifiers(RowFilter(kinds: []), order: .queue).isEmpty)
        }
    }

    @Test(
        "Store: a word means the download with that identifier, else those with that name, else those that begin so",
        arguments: StoreKind.allCases)
    func words(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let names = [
                ("abc1", "one.iso"), ("abc2", "two.iso"), ("abc", "three.iso"), ("def1", "two.iso"), ("ghi", "abc1"),
                ("jkl", "abc"), ("mno", "gh"), ("x%", "'"),
            ]
            let rows = try names.enumerated().map { index, name in
                var row = try StoreBench.row(name.0, 0, Int64(index), session: name.0 == "def1" ? "app" : "own")
                row.name = name.1
                return row
            }
            try await bench.store.commit([.insert(rows)])
            func meant(_ words: [String], _ session: String? = nil) async throws -> [[String]] {
                try await bench.store.identifiers(of: words, session: session).map { $0.map(\.rawValue) }
            }
            #expect(
                try await meant(["abc", "abc2", "d", "one.iso", "abc1", "gh", "'", "x", "x%"])
                    == [["abc"], ["abc2"], ["def1"], ["abc1"], ["abc1"], ["mno"], ["x%"], ["x%"], ["x%"]])
            #expect(try await meant(["ab", "two.iso"]) == [["abc1", "abc2", "abc"], ["abc2", "def1"]])
            #expect(try await meant(["nobody", "", "%", "one.iso", "one.iso"]) == [[], [], [], ["abc1"], ["abc1"]])
            #expect(try await meant(["two.iso", "def1", "abc"], "own") == [["abc2"], [], ["abc"]])
            #expect(try await meant([]) == [])
        }
    }

    @Test("Store: entries of some downloads are read, and rows that may have files", arguments: StoreKind.allCases)
    func chosen(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            var placed = try StoreBench.row("b", 0, 1, session: "x")
            placed.path = bench.directory + "/files/b"
            try await bench.store.commit([.insert([try StoreBench.row("a", 0, 2), placed, try StoreBench.row("c")])])
            let store = bench.store
            #expect(try await store.load(RowFilter(ids: ["a", "b", "none"])).map(\.id) == ["b", "a"])
            #expect(try await store.load(RowFilter(ids: ["a", "b"], session: "x")).map(\.id) == ["b"])
            #expect(try await store.load(RowFilter(ids: [])).isEmpty)
            let paths = try await store.page(RowFilter(ids: ["a", "b", "c"], hasFiles: true), offset: 0, limit: .max)
            #expect(paths == [placed])
        }
    }

    @Test(
        "Store: the neighbours of every placement are found among rows of the same priority",
        arguments: StoreKind.allCases)
    func gaps(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            var dice = SeededGenerator(seed: 1)
            var rows: [CatalogueRow] = []
            for number in 10..<60 {
                let priority = Int.random(in: -1...1, using: &dice)
                rows.append(try StoreBench.row("\(number)", priority, Int64.random(in: 0..<12, using: &dice)))
            }
            rows.append(try StoreBench.row("alone", 9, .min))
            rows.append(try StoreBench.row("ends", -1, .max))
            try await bench.store.commit([.insert(rows)])
            let list = try await bench.store.load().map { QueuePlace(id: $0.id, key: $0.key) }
            for place in list {
                let others = list.filter { $0.key.priority == place.key.priority && $0.id != place.id }
                for (index, other) in others.enumerated() {
                    #expect(try await bench.store.identifier(at: index, besides: place) == other.id)
                }
                #expect(try await bench.store.identifier(at: others.count, besides: place) == nil)
                try await expectGap(.front, for: place, 0, others, bench.store)
                try await expectGap(.back, for: place, others.count, others, bench.store)
                for key in [place.key] + others.map(\.key) {
                    let smaller = others.filter { $0.key < key }.count
                    try await expectGap(.before(key), for: place, smaller, others, bench.store)
                    let notLarger = others.filter { $0.key <= key }.count
                    try await expectGap(.after(key), for: place, notLarger, others, bench.store)
                }
            }
        }
    }

    private func expectGap(
        _ placement: PlacementPlanner.Placement, for place: QueuePlace, _ index: Int, _ others: [QueuePlace],
        _ store: any DownloadStore
    ) async throws {
        let gap = try await store.gap(placement, for: place)
        let right = index < others.count ? others[index] : nil
        #expect(gap == QueueGap(left: index > 0 ? others[index - 1] : nil, right: right), "\(placement), \(place)")
    }

    @Test("Store: rows that match a filter are listed and counted", arguments: StoreKind.allCases)
    func filters(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let rows = try [
                StoreBench.row("a", 0, 1, state: .paused), StoreBench.row("b", 0, 2, state: .downloading, session: "x"),
                StoreBench.row("c", 0, 3, state: .paused, session: "x"), StoreBench.row("d", 0, 4, state: .cancelled),
            ]
            try await bench.store.commit([.insert(rows)])
            let cases: [(RowFilter, [String])] = [
                (.all, ["a", "b", "c", "d"]),
                (RowFilter(kinds: [.paused]), ["a", "c"]),
                (RowFilter(kinds: [.paused, .cancelled]), ["a", "c", "d"]),
                (RowFilter(kinds: []), []),
                (RowFilter(session: "x"), ["b", "c"]),
                (RowFilter(session: "x' OR '1'='1"), []),
                (RowFilter(kinds: [.paused], session: "x"), ["c"]),
            ]
            for (filter, expected) in cases {
                #expect(try await bench.store.list(filter) == expected)
                #expect(try await bench.store.count(filter) == expected.count)
            }
        }
    }

    @Test(
        "Store: index entries hold rule, host, session and wake time where the queue needs them",
        arguments: StoreKind.allCases)
    func index(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            var rule = try StoreBench.row("rule", 2, 9)
            rule.request.network = NetworkRule(allowsMetered: false, allowsConstrained: true)
            rule.request.notBefore = StoreBench.date(100)
            rule.retryAt = StoreBench.date(50)
            var retry = try StoreBench.row("retry", 1)
            retry.request.notBefore = StoreBench.date(1)
            retry.retryAt = StoreBench.date(60)
            var failed = try StoreBench.row("failed", 0, state: .failed(StoreBench.error))
            failed.request.notBefore = StoreBench.date(1)
            let bare = try StoreBench.row(
                "bare", -1,
                request: DownloadRequest(sources: [], destination: .part("/dl/x.part")).stored)
            // A download whose file was being renamed.
            var moving = try StoreBench.row("moving", -2, state: .completed(.single))
            moving.announced = PublishedFile(
                path: "/dl/x", device: 1, inode: 2, length: 3, modified: FileTime(seconds: 0, nanoseconds: 4))
            try await bench.store.commit([.insert([rule, retry, failed, bare, moving])])
            #expect(
                try await bench.store.load() == [
                    IndexEntry(
                        id: "rule", key: QueueKey(priority: 2, position: 9), kind: .waitingForSlot,
                        network: NetworkRule(allowsMetered: false, allowsConstrained: true), host: "example.com",
                        session: "app", wakeAt: StoreBench.date(100)),
                    IndexEntry(
                        id: "retry", key: QueueKey(priority: 1, position: 0), kind: .waitingForSlot,
                        host: "example.com", session: "app", wakeAt: StoreBench.date(60)),
                    IndexEntry(
                        id: "failed", key: QueueKey(priority: 0, position: 0), kind: .failed, host: "example.com",
                        session: "app"),
                    IndexEntry(
                        id: "bare", key: QueueKey(priority: -1, position: 0), kind: .waitingForSlot, session: "app"),
                    IndexEntry(
                        id: "moving", key: QueueKey(priority: -2, position: 0), kind: .completed, host: "example.com",
                        session: "app", leavesJournal: true),
                ])
        }
    }

    @Test("Store: downloads are found by the exact text of their first source", arguments: StoreKind.allCases)
    func byURL(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            var mirrored = try StoreBench.row("mirrored")
            mirrored.request.sources.insert(try DownloadURL("https://example.com/first"), at: 0)
            try await bench.store.commit([
                .insert([
                    StoreBench.row("late", 0, 2), StoreBench.row("early", 0, 1), mirrored,
                    StoreBench.row("query", request: StoreBench.request("https://example.com/a.bin?x")),
                ])
            ])
            let found = try await bench.store.rows(url: "https://example.com/a.bin")
            #expect(found.map(\.id.rawValue) == ["early", "late"])
            #expect(try await bench.store.rows(url: "https://example.com/first").map(\.id.rawValue) == ["mirrored"])
            #expect(try await bench.store.rows(url: "https://EXAMPLE.com/a.bin").isEmpty)
        }
    }

    @Test(
        "Store: duplicates are requests with the same sources and the same destination", arguments: StoreKind.allCases)
    func duplicates(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            let url = "https://example.com/a.bin"
            let inside = bench.directory + "/files"
            let requests = try [
                StoreBench.request(url, to: .directory(inside)), StoreBench.request(url, to: .directory(inside + "/s")),
                StoreBench.request(url, to: .directory(inside, name: .exact("n"))),
                StoreBench.request(url, to: .file(inside)), StoreBench.request(url + "?1", to: .directory(inside)),
            ]
            for (number, request) in requests.enumerated() {
                try await bench.store.commit([.insert([StoreBench.row("\(number)", 0, 10, request: request)])])
            }
            try await bench.store.commit([.insert([StoreBench.row("again", 0, 3, request: requests[0])])])
            var mirrored = requests[0]
            mirrored.sources.append(try DownloadURL("https://mirror.example/a"))
            var limited = requests[3]
            limited.rateLimit = 5
            limited.headers[.accept] = "x"
            let found = try await bench.store.duplicates(of: requests + [mirrored, limited])
            #expect(found == [["again", "0"], ["1"], ["2"], ["3"], ["4"], [], ["3"]])
            #expect(try await bench.store.duplicates(of: []) == [])
        }
    }

    @Test("Store: totals are summed by state and saturate", arguments: StoreKind.allCases)
    func totals(kind: StoreKind) async throws {
        try await StoreBench.run(kind) { bench in
            #expect(try await bench.store.totals() == StoreTotals())
            var rows = try ["a", "b", "c", "d"].map { try StoreBench.row($0, state: .paused) }
            rows[0].completedBytes = 3
            rows[1].completedBytes = 4
            rows[2].state = .completed(.single)
            rows[2].completedBytes = .max
            rows[3].state = .completed(.single)
            rows[3].completedBytes = .max
            try await bench.store.commit([.insert(rows)])
            let totals = try await bench.store.totals()
            #expect(totals.counts == [.paused: 2, .completed: 2])
            #expect(totals.bytes == [.paused: 7, .completed: .max])
        }
    }
}
