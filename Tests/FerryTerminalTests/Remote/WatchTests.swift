import Ferry
import FerryAPI
import FerryClient
import FerryTerminal
import FerryTesting
import Foundation
import Testing

@Suite("ferry watch") struct WatchTests {
    private static func board(_ items: [ListedDownload], limit: ByteCount? = nil) -> WatchBoard {
        var settings = SettingsBody(scope: "daemon", directory: "/d")
        settings.rateLimit = limit
        var board = WatchBoard()
        board.take(
            .reset(
                StreamEvent.Snapshot(
                    items: items, total: items.count, settings: settings,
                    network: .online)))
        return board
    }

    private static let four: [ListedDownload] = [
        .sample("p", .paused), .sample("w", .waiting(.slot)), .sample("r"), .sample("c", .completed(.strong)),
    ]

    @Test("WatchBoard: running downloads come first, then waiting and paused; ended ones are counted")
    func rows() {
        let board = Self.board(Self.four)
        #expect(board.rows.map(\.rawValue) == ["r", "w", "p"])
        #expect(board.counts == ["1 running", "1 waiting", "1 paused", "1 completed"])
        #expect(board.speed == 100_000)
        #expect(board.selected?.rawValue == "r")
    }

    @Test("WatchBoard: events change the rows, and the selection stays where possible")
    func events() {
        var board = Self.board(Self.four)
        _ = board.press(.down)
        #expect(board.selected?.rawValue == "w")
        board.take(.state(.sample("w", .downloading)))
        board.take(
            .progress(
                [.init(id: "w", progress: DownloadProgress(completedBytes: 7, bytesPerSecond: 50))], bytesPerSecond: 50)
        )
        #expect(board.download(DownloadID(rawValue: "w"))?.status.progress.completedBytes == 7)
        #expect(board.selected?.rawValue == "w")
        board.take(.removed(["w", "nobody"], asOf: 1))
        #expect(board.selected?.rawValue == "r")
        board.take(.state(.sample("n", .waiting(.network))))
        #expect(board.rows.map(\.rawValue) == ["r", "n", "p"])
        board.take(.order(asOf: 1))
        #expect(board.isStale)
        board.fill([])
        #expect(!board.isStale)
        #expect(board.selected == nil)
        #expect(board.press(.pause) == nil)
        #expect(board.counts == ["no downloads"])
    }

    @Test("WatchBoard: after any events the rows and counts are those of a list that is counted anew")
    func anyEvents() {
        var random = SeededGenerator(seed: 7)
        let states: [DownloadState] = [
            .downloading, .verifying, .waiting(.slot), .paused, .failed(DownloadError(.network, "x")),
            .completed(.strong), .cancelled,
        ]
        var board = Self.board([])
        var list: [ListedDownload] = []
        for step in 0..<2000 {
            let id = "\(Int.random(in: 0..<40, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                list.removeAll { $0.id.rawValue == id }
                board.take(.removed([id], asOf: 1))
            case 1: _ = board.press([.down, .up, .last, .first].randomElement(using: &random)!)
            case 2: _ = board.press(.search(["", "1", "2"].randomElement(using: &random)!))
            case 3 where step % 3 == 0:
                board.only = board.only == nil ? Set(["1", "12", "30"].map { DownloadID(rawValue: $0) }) : nil
            case 4: board.settle()
            case 5:
                list.shuffle(using: &random)
                board.fill(list)
            default:
                let one = ListedDownload.sample(id, states.randomElement(using: &random)!, name: "name \(id)")
                if let index = list.firstIndex(where: { $0.id.rawValue == id }) {
                    list[index] = one
                } else {
                    list.append(one)
                }
                board.take(.state(one))
            }
            var anew = WatchBoard()
            anew.only = board.only
            anew.fill(list)
            _ = anew.press(.search(board.search))
            #expect(board.rows == anew.rows && board.counts == anew.counts && board.speed == anew.speed, "step \(step)")
            #expect(board.runningDownloads.map(\.id) == anew.runningDownloads.map(\.id), "step \(step)")
            #expect(board.selected.map(board.rows.contains) ?? board.rows.isEmpty, "step \(step)")
        }
    }

    @Test("WatchBoard: what events tell while the list is read is kept, and what it was read after is left out")
    func reading() {
        var board = Self.board(Self.four)
        board.take(.order(asOf: 1))
        board.beginReading()
        board.take(.state(.sample("r", .completed(.strong), asOf: 6)))
        board.take(.state(.sample("n", .waiting(.slot), asOf: 7)))
        board.take(.removed(["w"], asOf: 8))
        // The rows were read at position 5.
        let read = [("p", DownloadState.paused), ("r", .downloading), ("w", .waiting(.slot))]
        board.finishReading(read.map { .sample($0.0, $0.1, asOf: 5) }, asOf: 5)
        #expect(board.rows.map(\.rawValue) == ["n", "p"])
        #expect(board.counts == ["1 waiting", "1 paused", "1 completed"])
        #expect(!board.isStale)
        // A list that was read later knows what late events tell.
        board.beginReading()
        board.finishReading([.sample("p", .completed(.strong), asOf: 20)], asOf: 20)
        board.take(.state(.sample("p", asOf: 19)))
        board.take(.removed(["p"], asOf: 19))
        board.take(.order(asOf: 20))
        #expect(board.counts == ["1 completed"] && !board.isStale)
        board.take(.state(.sample("p", asOf: 21)))
        #expect(board.counts == ["1 running"])
    }

    @Test(
        "WatchBoard: a list that was being read before a snapshot is not used, and one that cannot be read is read again"
    )
    func voidReading() {
        var board = Self.board(Self.four)
        board.beginReading()
        board.take(
            .reset(
                StreamEvent.Snapshot(
                    items: [.sample("s")], total: 5, settings: SettingsBody(scope: "daemon", directory: "/d"),
                    network: .online)))
        board.finishReading(Self.four, asOf: 0)
        #expect(board.rows.map(\.rawValue) == ["s"])
        #expect(board.isStale && board.isIncomplete)
        board.beginReading()
        board.finishReading(nil, asOf: 0)
        #expect(board.isStale)
        board.beginReading()
        board.finishReading(Self.four, asOf: 0)
        #expect(!board.isStale && !board.isIncomplete)
    }

    @Test("WatchBoard: the total speed is the daemon's, in which files count that begin and end between two events")
    func wholeSpeed() {
        var board = Self.board(Self.four)
        let r = StreamEvent.Progress(id: "r", progress: DownloadProgress(completedBytes: 7, bytesPerSecond: 50))
        board.take(.progress([r], bytesPerSecond: 900))
        #expect(board.speed == 900)
        board.only = [DownloadID(rawValue: "r")]
        #expect(board.speed == 50)
        board.only = nil
        board.take(.state(.sample("r", .paused)))
        #expect(board.speed == 0)
    }

    @Test("WatchBoard: while only the beginning of the list is known, it says so in place of counts")
    func partialCounts() {
        var board = WatchBoard()
        #expect(board.counts == ["reading the list"])
        let snapshot = StreamEvent.Snapshot(
            items: Self.four, total: 5000, settings: SettingsBody(scope: "daemon", directory: "/"),
            network: NetworkStatus(isOnline: true, isMetered: false, isConstrained: false))
        board.take(.reset(snapshot))
        #expect(board.counts == ["reading the list: 4 of 5000"])
        board.beginReading()
        board.finishReading(Self.four, asOf: 0)
        #expect(board.counts.contains("1 running"))
    }

    @Test("WatchBoard: progress applies to running downloads only")
    func lateProgress() {
        var board = Self.board(Self.four + [ListedDownload.sample("v", .verifying)])
        let late = DownloadProgress(completedBytes: 7, bytesPerSecond: 50)
        let batch = ["p", "w", "r", "c", "v"].map { StreamEvent.Progress(id: $0, progress: late) }
        board.take(.progress(batch, bytesPerSecond: 100))
        let bytes = ["p", "w", "r", "c", "v"].map {
            board.download(DownloadID(rawValue: $0))?.status.progress.completedBytes
        }
        #expect(bytes == [500_000, 500_000, 7, 500_000, 7])
    }

    @Test("WatchBoard: keys act on the selected download as its state allows, and cancel asks first")
    func keys() {
        var board = Self.board(Self.four)
        let r = DownloadID(rawValue: "r")
        #expect(board.press(.pause) == .pause(r))
        // A running download cannot be resumed.
        #expect(board.press(.resume) == nil)
        #expect(board.press(.cancel) == nil)
        #expect(board.question?.id == r)
        #expect(board.press(.other) == nil)
        #expect(board.question == nil)
        #expect(board.press(.remove) == nil)
        #expect(board.press(.cancel) == nil)
        #expect(board.press(.cancel) == .cancel(r))
        #expect(board.press(.remove) == nil)
        #expect(board.press(.remove) == .remove(r))
        for _ in 0..<5 { #expect(board.press(.down) == nil) }
        #expect(board.press(.resume) == .resume(DownloadID(rawValue: "p")))
        for _ in 0..<5 { #expect(board.press(.up) == nil) }
        #expect(board.selected == r)
        #expect(board.press(.quit) == .quit)
    }

    @Test("WatchBoard: long lists are paged through and searched")
    func longList() {
        var board = Self.board((10..<60).map { .sample("\($0)", name: "File \($0)") })
        func selected(after keys: WatchKey...) -> String? {
            for key in keys { _ = board.press(key) }
            return board.selected?.rawValue
        }
        #expect(selected(after: .pageDown, .pageDown, .down) == "31")
        #expect(selected(after: .pageUp) == "21")
        #expect(selected(after: .last) == "59")
        #expect(selected(after: .first) == "10")
        #expect(selected(after: .search("file 4")) == "40")
        #expect(board.rows.count == 10)
        #expect(selected(after: .last) == "49")
        #expect(selected(after: .search("none")) == nil)
        #expect(selected(after: .search("")) == "10")
    }

    @Test("WatchBoard: plus and minus step through the limits, from the current speed to none")
    func limits() {
        var board = Self.board([.sample("r", speed: 3_000_000)])
        #expect(board.press(.faster) == nil)
        #expect(board.press(.slower) == .limit(2_000_000))
        #expect(board.press(.slower) == .limit(1_000_000))
        #expect(board.press(.faster) == .limit(2_000_000))
        var fast = Self.board([], limit: 100_000_000)
        #expect(fast.press(.faster) == .limit(nil))
        #expect(fast.limit == nil)
        #expect(LimitSteps.slower(than: 100_000, speed: 0) == 100_000)
        #expect(LimitSteps.slower(than: 50_000, speed: 5_000_000) == 50_000, "it never becomes faster")
        #expect(LimitSteps.slower(than: nil, speed: 10) == 100_000)
        #expect(LimitSteps.slower(than: nil, speed: 0) == 100_000_000)
        #expect(LimitSteps.slower(than: nil, speed: .nan) == 100_000_000)
    }

    @Test("WatchRenderer: the lines fit the terminal, whatever they show", arguments: [20, 40, 80, 200], [3, 5, 24])
    func fits(width: Int, height: Int) {
        let many = (0..<30).map { ListedDownload.sample("d\($0)", name: "中文文件名\($0)\u{1B}[31m.bin") }
        var board = Self.board(many)
        for _ in 0..<17 { _ = board.press(.down) }
        let lines = WatchRenderer(width: width, height: height, usesColor: false).lines(
            board, now: Date(timeIntervalSince1970: 0), hasKeys: true)
        #expect(lines.count <= height - 1)
        for line in lines {
            #expect(DisplayWidth.columns(of: line) < width)
            #expect(!line.contains("\u{1B}"))
        }
        #expect(lines.contains { $0.hasPrefix("> ") })
    }

    @Test("WatchRenderer: it shows running downloads, total speed, limit, question and a lost connection")
    func lines() {
        var board = Self.board(Self.four, limit: 5_000_000)
        let renderer = WatchRenderer(width: 100, height: 24, usesColor: false)
        func shown() -> [String] { renderer.lines(board, now: Date(timeIntervalSince1970: 0), hasKeys: true) }
        #expect(shown().count == 5)
        #expect(shown()[0].hasPrefix("> r.iso"))
        #expect(shown()[0].contains("50.0%"))
        #expect(shown()[1].contains("queued"))
        #expect(shown()[3] == "1 running, 1 waiting, 1 paused, 1 completed  100.0 KB/s  limit 5.0 MB/s")
        _ = board.press(.cancel)
        #expect(shown()[4] == "press c again to cancel r.iso and delete its partial data")
        board.isLost = true
        #expect(shown()[3] == "the daemon does not answer; trying again")
    }

    @Test("WatchRenderer: a row of 80 columns says why its download waits or has failed, the beginning first")
    func reasons() {
        let next = Date(timeIntervalSince1970: 55)
        let mismatch = DownloadError(.checksum, "checksum mismatch: expected sha-256=00000000…, got sha-256=52bbe134…")
        var waiting = [
            ListedDownload.sample("busy", .waiting(.retry(at: next)), done: 0, total: nil),
            .sample("fine", .waiting(.server(since: nil, until: next)), done: 0, total: nil),
            .sample("dead", .waiting(.server(since: Date(timeIntervalSince1970: 0), until: nil)), done: 0, total: nil),
            .sample("wrong", .failed(mismatch)),
        ]
        waiting[0].status.waitError = DownloadError(.refused, "the server answered 503")
        waiting[1].status.waitError = DownloadError(.refused, "127.0.0.1 asked to wait (503)")
        waiting[2].status.waitError = DownloadError(.network, "127.0.0.1:1: connection refused")
        let lines = WatchRenderer(width: 80, height: 24, usesColor: false).lines(
            Self.board(waiting), now: Date(timeIntervalSince1970: 0), hasKeys: true)
        #expect(lines[0].hasSuffix("  next attempt in 55s: the server answered 503"), "\(lines[0])")
        #expect(lines[1].hasSuffix("  next attempt in 55s: 127.0.0.1 asked to wait (503)"), "\(lines[1])")
        #expect(lines[2].hasSuffix("  127.0.0.1:1: connection refused"), "\(lines[2])")
        #expect(lines[3].contains("  checksum mismatch: expected sha-256="), "\(lines[3])")
        #expect(lines.allSatisfy { DisplayWidth.columns(of: $0) < 80 })
        waiting[3].status.retryAt = next
        let retried = WatchRenderer(width: 80, height: 24, usesColor: false).lines(
            Self.board(waiting), now: Date(timeIntervalSince1970: 0), hasKeys: true)
        #expect(retried[3].contains("  next attempt in 55s: checksum mismatch"), "\(retried[3])")
    }

    @Test("WatchRenderer: a search is shown from its first key on, and its end too")
    func searchIsShown() {
        var board = Self.board(Self.four)
        let renderer = WatchRenderer(width: 100, height: 24, usesColor: false)
        func counts() -> String { renderer.lines(board, now: Date(timeIntervalSince1970: 0), hasKeys: true)[3] }
        let without = counts()
        _ = board.press(.search(""))
        #expect(counts() == without + "  /")
        // The rows of a search remain after Enter.
        _ = board.press(.search("x"))
        let help = renderer.lines(board, now: Date(timeIntervalSince1970: 0), hasKeys: true).last
        #expect(help?.contains("  / Esc show all  ") == true, "\(help ?? "")")
        _ = board.press(.search(nil))
        #expect(counts() == without)
    }

    @Test(
        "WatchRenderer: on a narrow terminal whole keys are left out",
        arguments: [
            (100, "up/down select  p pause  r resume  c cancel  d remove  / search  +/- limit  q quit"),
            (80, "p pause  r resume  c cancel  d remove  / search  +/- limit  q quit"),
            (40, "p pause  r resume  c cancel  q quit"), (12, "q quit"),
        ])
    func keys(width: Int, expected: String) {
        let lines = WatchRenderer(width: width, height: 24, usesColor: false).lines(
            Self.board(Self.four), now: Date(timeIntervalSince1970: 0), hasKeys: true)
        #expect(lines.last == expected)
    }

    @Test("WatchRenderer: on 40 columns each row says its state, and no count is cut", arguments: [40, 48, 60])
    func narrow(width: Int) {
        var signIn = ListedDownload.sample("signin", .waiting(.credentials), name: "needs-a-password.tar.gz")
        signIn.status.waitError = DownloadError(.credentials, "the server asks for a user name and a password")
        let bad = DownloadError(.refused, "the server answered 404 to this")
        let states: [(ListedDownload, String)] = [
            (.sample("run", name: "a-long-name-of-a-file.iso"), "50.0%"),
            (
                .sample("later", .waiting(.notBefore(Date(timeIntervalSince1970: 9))), name: "scheduled-file.iso"),
                "scheduled"
            ),
            (signIn, "waiting: login"), (.sample("rest", .paused, name: "a-paused-download.iso"), "paused"),
            (.sample("huge", .paused, name: "huge.iso", done: 999_900_000_000, total: 1_234_567_000_000), "paused"),
            (.sample("bad", .failed(bad), name: "not-there.bin"), "failed"),
        ]
        let ended = (0..<3).map { ListedDownload.sample("c\($0)", .completed(.strong)) }
        let lines = WatchRenderer(width: width, height: 20, usesColor: false).lines(
            Self.board(states.map(\.0) + ended), now: Date(timeIntervalSince1970: 0), hasKeys: true)
        for (line, (_, words)) in zip(lines, states) {
            let beginnings = ["the server answered", "continue with: ferry set", "starts at"]
            let isSentence = beginnings.contains { line.contains($0) }
            #expect(line.contains(words) || isSentence && width > 40, "\(line)")
            #expect(DisplayWidth.columns(of: line) < width)
        }
        let counts = lines[states.count]
        let words = ["1 running", "2 waiting", "2 paused", "1 failed"]
        #expect(counts.hasPrefix(words.joined(separator: width > 40 ? ", " : " ")), "\(counts)")
        #expect(!counts.contains("..."), "\(counts)")
    }

    @Test("WatchRun: a refusal and another version are lasting; an absent daemon or a shutdown is not")
    func lasting() {
        let failures: [(DaemonFailure, Bool)] = [
            (.refused(DownloadError(.invalidRequest, "no such session")), true), (.otherVersion("9.0, API 9"), true),
            (.unreachable("connection refused"), false), (.unreadable("status 502"), true),
            (.refused(DownloadError(.shutDown, "it is leaving")), false),
            (.refused(DownloadError(.network, "later", recovery: .transient(retryAfter: nil))), false),
        ]
        for (failure, isLasting) in failures {
            #expect(failure.error(socket: "/s").isLasting == isLasting, "\(failure)")
        }
    }

    @Test(
        "KeyParser: keys are parsed from bytes and escape sequences",
        arguments: [
            ("p", [WatchKey.pause]), ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA", [.up]),
            ("jkx", [.down, .up, .other]),
            ("\u{1B}[1;5Aq", [.up, .quit]), ("+=-rc", [.faster, .faster, .slower, .resume, .cancel]),
            ("\u{1B}[15~p", [.other, .pause]), ("\u{1B}p", [.pause]), ("\u{1B}[H\u{1B}OF", [.first, .last]),
            ("\u{1B}[1~\u{1B}[4~\u{1B}[5~\u{1B}[6~", [.first, .last, .pageUp, .pageDown]),
            ("gGd", [.first, .last, .remove]),
            (
                "/p中\u{7F}\np",
                [
                    .search(""), .search("p"), .search("p\u{FFFD}"), .search("p\u{FFFD}"), .search("p中"), .search("p"),
                    .pause,
                ]
            ),
            ("/a\u{1B}q", [.search(""), .search("a"), .search(nil), .quit]),
            ("/\n/a\np", [.search(""), .search(nil), .search(""), .search("a"), .pause]),
        ])
    func bytes(text: String, keys: [WatchKey]) {
        var parser = KeyParser()
        #expect(text.utf8.compactMap { parser.take($0) } == keys)
    }
}
