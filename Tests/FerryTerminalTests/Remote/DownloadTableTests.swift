import Ferry
import FerryAPI
import FerryCore
import FerryTerminal
import Foundation
import Testing

@Suite("DownloadTable") struct DownloadTableTests {
    private let downloads: [ListedDownload] = [
        .sample("0123456789abcdef", name: "a-rather-long-name-of-a-file.iso"),
        .sample("fedcba9876543210", .waiting(.slot), name: "中文文件名.bin", done: 0, total: nil),
        .sample("1111111111111111", .completed(.strong), name: "c\u{1B}[31m.iso", done: 1_000_000),
    ]

    private func lines(_ width: Int?) -> [String] {
        DownloadTable(width: width).lines(
            downloads, identifiers: ShortIdentifiers(downloads.map(\.id.rawValue)))
    }

    @Test("DownloadTable: without a width every column is shown, and control characters are escaped")
    func whole() {
        #expect(
            lines(nil) == [
                "ID      STATE          DONE    SIZE       SPEED  LEFT  NAME",
                "012345  downloading   50.0%  1.0 MB  100.0 KB/s    5s  a-rather-long-name-of-a-file.iso",
                "fedcba  queued           --       ?           -     -  中文文件名.bin",
                "111111  completed    100.0%  1.0 MB           -     -  c\\x1b[31m.iso",
            ])
    }

    @Test("DownloadTable: of an unknown size the bytes are shown, and of a cancelled download nothing is there")
    func done() {
        let rows: [ListedDownload] = [
            .sample("a", done: 23_000_000, total: nil), .sample("b", .paused, done: 0, total: nil),
            .sample("c", .cancelled), .sample("d", .completed(.single), total: nil),
        ]
        let lines = DownloadTable(width: nil).lines(rows, identifiers: .whole).dropFirst()
        #expect(
            lines.map { $0.split(separator: " ").dropFirst(2).prefix(2).joined(separator: " ") } == [
                "23.0 MB", "-- ?", "- 1.0", "100.0% ?",
            ])
    }

    @Test("DownloadTable: a failed file of which all bytes are here has 100 percent, and its reason is wrapped")
    func failed() {
        let reason = "not enough space in /mnt/tiny: 5.4 MB free, 44.7 MB missing, with 83.9 KB kept free"
        let error = DownloadError(.diskFull, .words(reason))
        let rows: [ListedDownload] = [.sample("a", .failed(error), done: 1_000_000), .sample("b", .failed(error))]
        func lines(_ width: Int) -> [String] { DownloadTable(width: width).lines(rows, identifiers: .whole) }
        #expect(lines(200)[1].hasPrefix("a   failed  100.0%") && lines(200)[3].contains(" 50.0%"))
        for width in [60, 72, 76, 80] {
            let text = lines(width)[2...].prefix { !$0.hasPrefix("b ") }
            #expect(text.map { $0.dropFirst(2) }.joined(separator: " ") == reason)
            #expect(text.allSatisfy { $0.hasPrefix("  ") && DisplayWidth.columns(of: $0) <= width })
        }
    }

    @Test("DownloadTable: the lines fit any width from 40 columns on", arguments: [40, 50, 60, 70, 80, 120, 200])
    func fits(width: Int) {
        for line in lines(width) { #expect(DisplayWidth.columns(of: line) <= width) }
        // The identifier, the state and the percent stay.
        #expect(lines(width)[1].hasPrefix("012345  downloading   50.0%"))
    }

    @Test("DownloadTable: a narrow table drops the time left, then the speed, then the size")
    func narrow() {
        #expect(lines(64)[0].hasPrefix("ID      STATE          DONE    SIZE       SPEED  NAME"))
        #expect(lines(52)[0].hasPrefix("ID      STATE          DONE    SIZE  NAME"))
        #expect(lines(44)[0].hasPrefix("ID      STATE          DONE  NAME"))
    }

    @Test("DownloadFacts: a download that waits for a login shows the command that gives one")
    func login() {
        var waiting = ListedDownload.sample("0123456789abcdef", .waiting(.credentials))
        let command = "state:       waiting: login; continue with: ferry set 0123456789abcdef --user USER"
        #expect(DownloadFacts.lines(DownloadDetail(waiting), events: []).contains(command))
        waiting.session = "player"
        #expect(DownloadFacts.lines(DownloadDetail(waiting), events: []).contains(command + " --session player"))
    }

    @Test("DownloadFacts: the earliest start of a paused download is shown; one that waits for it says so in its state")
    func start() {
        let date = Date(timeIntervalSince1970: 4_000_000_000)
        let states: [(DownloadState, Bool)] = [
            (.paused, true), (.waiting(.credentials), true), (.waiting(.notBefore(date)), false),
        ]
        for (state, isFact) in states {
            var download = ListedDownload.sample("0123456789abcdef", state)
            download.notBefore = date
            let facts = DownloadFacts.lines(DownloadDetail(download), events: [])
            #expect(facts.contains("not before:  " + LocalTime.text(date)) == isFact, "\(facts)")
            #expect(facts.filter { $0.contains(LocalTime.text(date)) }.count == 1, "\(facts)")
        }
    }

    @Test("DownloadFacts: the download's own maximum size and number of retries are shown")
    func limits() {
        var detail = DownloadDetail(ListedDownload.sample("0123456789abcdef", .paused))
        func facts() -> [String] {
            DownloadFacts.lines(detail, events: []).filter { $0.hasPrefix("max size:") || $0.hasPrefix("retries:") }
        }
        #expect(facts() == [])
        (detail.maxBytes, detail.maxRetries) = (5_000_000, 0)
        #expect(facts() == ["max size:    5.0 MB", "retries:     0"])
        detail.maxRetries = DownloadRequest.mostRetries
        #expect(facts().last == "retries:     inf")
    }

    @Test("DownloadTable and DownloadFacts: a download that waits says why, and what makes it go on")
    func reasons() {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let page = DownloadError(.freshLink, ErrorPhrase(.pageInstead), recovery: .needsUser)
        let busy = DownloadError(.network, "the server answered 503")
        let server = Origin(scheme: .http, host: "h", port: 8080)
        let asked = HostWait.asked(status: 503, until: .zero).error(of: server)
        let cause = HostHealth.Cause(Reason(.connectionRefused, "h:1"), code: .network)
        let silent = HostWait.silent(cause, since: .zero, until: nil).error(of: server)
        let cases: [(WaitReason, DownloadError?, String)] = [
            (.server(since: nil, until: date), asked, "h:8080 asked to wait (503); next attempt at 2023-11-1"),
            (.server(since: date, until: date), silent, "h:1: connection refused, since 2023-11-1"),
            (
                .server(since: nil, until: nil), HostWait.spent.error(of: server), "the budget of h is used up"
            ),
            (.retry(at: date), nil, "next attempt at 2023-11-1"),
            (.retry(at: date), busy, "the server answered 503; next attempt at 2023-11-1"),
            (
                .freshLink, page,
                "the server sent a web page instead of the file; get past the page in a browser; "
                    + "it goes on when the network changes, or with: ferry resume 0123456789abcdef; "
                    + "after a login there: ferry set 0123456789abcdef load-cookies=FILE; to take the page: "
                    + "ferry set 0123456789abcdef accept-html=on"
            ),
            (
                .freshLink, DownloadError(.freshLink, "the link is dead"),
                "the link is dead; continue with: ferry set 0123456789abcdef url=NEWURL"
            ),
            (.diskSpace, DownloadError(.diskFull, "2 MB are missing"), "2 MB are missing"),
            (
                .diskSpace,
                DownloadError(
                    .diskFull, ErrorPhrase(.noSpace, "/d", "1 MB", "2 MB"), suggestion: ErrorPhrase(.minFree),
                    recovery: .needsUser),
                "not enough space in /d: 1 MB free, 2 MB missing; "
                    + "to keep nothing free: ferry set 0123456789abcdef min-free=0"
            ),
            (
                .credentials,
                DownloadError.deadLink(Reason(.serverAnsweredFor, "401", "bearer"), status: 401, holdsBytes: false),
                "the server answered 401 (bearer): it takes no user name and password, but another Authorization header; "
                    + "continue with: ferry set 0123456789abcdef --header 'Authorization: …'"
            ),
        ]
        for (wait, error, sentence) in cases {
            var download = ListedDownload.sample("0123456789abcdef", .waiting(wait), name: "a.iso")
            download.status.waitError = error
            let table = DownloadTable(width: nil).lines([download], identifiers: .whole)
            #expect(table.count == 3 && table[2].hasPrefix("  " + sentence), "\(table)")
            let facts = DownloadFacts.lines(DownloadDetail(download), events: [])
            #expect(facts.contains { $0.contains("; " + sentence) }, "\(facts)")
        }
    }

    @Test("DownloadTable: the reason of a failure is one line, with the daemon's command and with shortened digests")
    func brief() {
        let digest = String(repeating: "0123456789abcdef", count: 4)
        let error = DownloadError(
            .checksum, ErrorPhrase(.wrongDigest, "sha-256=\(digest)", "sha-256=\(digest)"),
            suggestion: ErrorPhrase(.keptMarked, "a.part"), recovery: .needsUser)
        let failed = ListedDownload.sample("0123456789abcdef", .failed(error), name: "a.iso")
        let table = DownloadTable(width: nil).lines([failed], identifiers: .whole)
        let remedy =
            "to take it as it is: ferry set 0123456789abcdef checksum=none, then ferry resume 0123456789abcdef"
        #expect(table[2] == "  checksum mismatch: expected sha-256=01234567…, got sha-256=01234567…; " + remedy)
        // There the daemon's command stands in the place of an option of `ferry get`.
        let facts = DownloadFacts.lines(DownloadDetail(failed), events: []).joined(separator: "\n")
        #expect(facts.contains("ferry set 0123456789abcdef checksum=none, then ferry resume 0123456789abcdef"))
        #expect(!facts.contains("--checksum"))
    }

    /// Following the advice to drop the checksum made the gateway serve the wrong bytes.
    @Test("DownloadTable: a download of the gateway goes on for its client, and no command changes what it fetches")
    func gateway() {
        let wrong = DownloadError(
            .checksum, ErrorPhrase(.wrongDigest, "a", "b"), suggestion: ErrorPhrase(.keptMarked, "a.part"),
            recovery: .needsUser)
        let refused = DownloadError(.refused, ErrorPhrase(.serverAnswered, "404"))
        let other = DownloadError(.conflict, ErrorPhrase(.otherFile, "x"), suggestion: ErrorPhrase(.giveLinkOfBegun))
        let states: [DownloadState] = [
            .failed(wrong), .failed(refused), .failed(other), .waiting(.credentials), .waiting(.freshLink),
        ]
        for state in states {
            var download = ListedDownload.sample("gateway-0123", state)
            download.session = FerryAPI.gatewaySession
            let lines =
                DownloadTable(width: nil).lines([download], identifiers: .whole)
                + DownloadFacts.lines(DownloadDetail(download), events: [])
            let text = lines.joined(separator: "\n")
            #expect(text.contains("it goes on when a client requests it from the gateway"), "\(text)")
            #expect(!text.contains("ferry set") && !text.contains("--checksum"), "\(text)")
        }
    }

    /// Following the advice to drop the checksum made a set complete with wrong bytes, and dropped no size.
    @Test("DownloadTable: a download of a set is fetched again by its set, and no command changes what it fetches")
    func ofSet() {
        let other = DownloadError(.conflict, ErrorPhrase(.otherFile, "x"), suggestion: ErrorPhrase(.giveLinkOfBegun))
        let states: [DownloadState] = [
            .failed(DownloadError(.checksum, ErrorPhrase(.wrongDigest, "a", "b"))),
            .failed(DownloadError(.checksum, ErrorPhrase(.otherSize, "91239", "5"))),
            .failed(DownloadError(.refused, ErrorPhrase(.serverAnswered, "404"))), .failed(other),
            .waiting(.credentials), .waiting(.freshLink),
        ]
        for state in states {
            var download = ListedDownload.sample("0123456789abcdef", state)
            download.session = FerryAPI.setsSession
            let lines =
                DownloadTable(width: nil).lines([download], identifiers: .whole)
                + DownloadFacts.lines(DownloadDetail(download), events: [])
            let text = lines.joined(separator: "\n")
            #expect(text.contains("ferry sets resume all"), "\(text)")
            #expect(!text.contains("ferry set ") && !text.contains("--checksum"), "\(text)")
        }
    }

    @Test("DownloadTable: to drop the checksum is not advised for a file of another size")
    func anotherSize() {
        for phrase in [ErrorPhrase(.otherSize, "91239", "5"), ErrorPhrase(.fileLargerThan, "5")] {
            let failed = ListedDownload.sample("0123456789abcdef", .failed(DownloadError(.checksum, phrase)))
            let text = DownloadTable(width: nil).lines([failed], identifiers: .whole).joined(separator: "\n")
            #expect(!text.contains("checksum=none"), "\(text)")
        }
    }

    @Test(
        "DownloadFacts: a certificate of no authority, or a link to another file, has the command that goes on",
        arguments: [
            (ErrorPhrase.Key.giveCertificate, "ca-file=FILE"), (.giveAuthority, "ca-file=FILE"),
            (.giveLinkOfBegun, "url=NEWURL"),
        ])
    func remedies(suggestion: ErrorPhrase.Key, setting: String) {
        let error = DownloadError(.conflict, ErrorPhrase(.otherFile, "x"), suggestion: ErrorPhrase(suggestion))
        let failed = ListedDownload.sample("0123456789abcdef", .failed(error))
        let facts = DownloadFacts.lines(DownloadDetail(failed), events: []).joined(separator: "\n")
        #expect(
            facts.contains("ferry set 0123456789abcdef \(setting), then ferry resume 0123456789abcdef"), "\(facts)")
    }

    @Test(
        "DownloadTable and DownloadFacts: a failed download has the command that may help",
        arguments: [
            (
                DownloadError(.refused, ErrorPhrase(.serverAnswered, "404")),
                "the server answered 404; continue with: ferry set a url=NEWURL, then ferry resume a"
            ),
            (
                DownloadError(.refused, ErrorPhrase(.serverAnswered, "410")),
                "the server answered 410; continue with: ferry set a url=NEWURL, then ferry resume a"
            ),
            (
                DownloadError(.refused, ErrorPhrase(.serverAnswered, "403")),
                "the server answered 403; a login or another link may help: ferry set a --user USER, "
                    + "ferry set a load-cookies=FILE, ferry set a url=NEWURL; then ferry resume a"
            ),
            (
                DownloadError(.tooLarge, ErrorPhrase(.fileTooLarge, "9", "5")),
                "the file has 9 bytes, more than the 5 allowed; to allow it: ferry set a max-size=SIZE, then ferry resume a"
            ),
            (
                DownloadError(
                    .network, ErrorPhrase(.gaveUp, "5", "it broke"), suggestion: ErrorPhrase(.runAgain),
                    recovery: .transient(retryAfter: nil)),
                "gave up after 5 attempts: it broke; to try it again: ferry resume a"
            ),
            (DownloadError(.refused, ErrorPhrase(.serverAnswered, "418")), "the server answered 418"),
        ])
    func failures(error: DownloadError, line: String) {
        let failed = ListedDownload.sample("a", .failed(error))
        #expect(DownloadTable(width: nil).lines([failed], identifiers: .whole)[2] == "  " + line)
        #expect(DownloadFacts.lines(DownloadDetail(failed), events: []).contains("state:       failed: " + line))
    }

    @Test("DownloadTable, DownloadFacts and WatchRenderer: a failed download that is retried by itself says when")
    func retried() {
        let error = DownloadError(
            .network, ErrorPhrase(.gaveUpOnce, "it broke"), suggestion: ErrorPhrase(.runAgain),
            recovery: .transient(retryAfter: nil))
        var failed = ListedDownload.sample("a", .failed(error))
        failed.status.retryAt = Date(timeIntervalSince1970: 1_700_000_000)
        let sentence = "\(error.message); next attempt at 2023-11-1"
        let table = DownloadTable(width: nil).lines([failed], identifiers: .whole)
        #expect(table[2].hasPrefix("  " + sentence) && !table[2].contains("ferry resume"), "\(table)")
        let facts = DownloadFacts.lines(DownloadDetail(failed), events: [])
        #expect(
            facts.contains {
                $0.hasPrefix("state:       failed: \(error.message)") && $0.contains("next attempt at 2023-11-1")
            })
    }

    @Test("DownloadFacts: a download whose file is in use is to be resumed when the other program has ended")
    func inUse() {
        let error = DownloadError(
            .conflict, ErrorPhrase(.inUse, "/d/f"), suggestion: ErrorPhrase(.waitForOther), recovery: .needsUser)
        let failed = ListedDownload.sample("0123456789abcdef", .failed(error))
        let facts = DownloadFacts.lines(DownloadDetail(failed), events: []).joined(separator: "\n")
        #expect(facts.contains("; wait for the other program, then: ferry resume 0123456789abcdef"), "\(facts)")
        #expect(!facts.contains("-o"))
    }

    @Test("DownloadFacts: a download that waits for a slot says how many run, and how many are before it")
    func place() {
        var detail = DownloadDetail(ListedDownload.sample("a", .waiting(.slot)))
        detail.queue = .init(before: 12, running: 4, limit: 4)
        let running = "state:       queued; 4 downloads are running, the maximum; 12 before it"
        #expect(DownloadFacts.lines(detail, events: []).contains(running))
        detail.queue = .init(before: 0, running: 1, limit: 3)
        #expect(DownloadFacts.lines(detail, events: []).contains("state:       queued; it is next"))
    }

    @Test("DownloadFacts: events that say the same after each other are one line")
    func folded() throws {
        let broke = LocalizedEvent.note(Reason(.connectionBroke, Reason(.connectionReset, "h")))
        let events = [
            LocalizedEvent(.added(url: "")), broke, broke, LocalizedEvent.note(Reason(.severalLeft, "x", "3")), broke,
        ].map { EventBody(DownloadEvent(id: DownloadID(rawValue: "a"), date: Date(), $0), session: "default") }
        let lines = DownloadFacts.lines(DownloadDetail(ListedDownload.sample("a")), events: events).suffix(4)
        #expect(
            lines.map { $0.split(separator: "  ", maxSplits: 1)[1] } == [
                "Added", "A connection broke: h: connection reset by peer (2 times)", "x; going on with 3 connections",
                "A connection broke: h: connection reset by peer",
            ])
    }

    @Test("DownloadFacts: what limits a running download")
    func limited() {
        var running = ListedDownload.sample("0123456789abcdef")
        running.status.progress.bottleneck = Bottleneck(.disk, bytesPerSecond: 90e6)
        let line = "limited:     the disk writes 90.0 MB/s"
        #expect(DownloadFacts.lines(DownloadDetail(running), events: []).contains(line))
        running.status.state = .paused
        #expect(!DownloadFacts.lines(DownloadDetail(running), events: []).contains(line))
    }

    @Test("DownloadTable and DownloadFacts: a download with a start time is scheduled for it")
    func scheduled() {
        let download = ListedDownload.sample(
            "0123456789abcdef", .waiting(.notBefore(Date(timeIntervalSince1970: 1_700_000_000))), name: "a.iso")
        let table = DownloadTable(width: nil).lines([download], identifiers: ShortIdentifiers(["0123456789abcdef"]))
        #expect(table[1].hasPrefix("012345  scheduled  "))
        let facts = DownloadFacts.lines(DownloadDetail(download), events: [])
        #expect(facts.contains { $0.hasPrefix("state:       scheduled; starts at 2023-11-1") })
    }

    @Test("DownloadTable and DownloadFacts: a download paused after repeated crashes shows that reason")
    func crashes() {
        var paused = ListedDownload.sample("0123456789abcdef", .paused, name: "a.iso")
        paused.status.pauseReason = .crashes
        let table = DownloadTable(width: nil).lines([paused], identifiers: ShortIdentifiers(["0123456789abcdef"]))
        #expect(table[1] == "012345  paused: crashes  50.0%  1.0 MB      -     -  a.iso")
        let reason = "the program that ran it ended unexpectedly three times in a row; resume it to try again"
        #expect(DownloadFacts.lines(DownloadDetail(paused), events: []).contains("state:       paused: " + reason))
    }

    @Test("DownloadTable and DownloadFacts: extreme sizes and speeds are shown without a trap")
    func extremes() {
        let numbers: [ByteCount] = [0, 1, -1, 1 << 31, 1 << 53, 1 << 62, .max, .min]
        for one in numbers {
            for other in numbers {
                for speed in [0, Double(other), .nan, .infinity, 1e308] {
                    let download = ListedDownload.sample("0123456789abcdef", done: one, total: other, speed: speed)
                    let table = DownloadTable(width: 80).lines([download], identifiers: .whole)
                    #expect(table.count == 2)
                    #expect(!DownloadFacts.lines(DownloadDetail(download), events: []).isEmpty)
                }
            }
        }
    }

    @Test("SettingsText: extreme numbers are shown without a trap")
    func settings() {
        for number in [Double.nan, .infinity, -.infinity, 1e308, -1e308, 9.3e18, 0.5, 60] {
            var settings = SettingsBody(scope: "daemon", directory: "/d")
            settings.retriesFailedAfter = number
            settings.rateLimit = .max
            settings.maxConcurrentDownloads = .min
            #expect(SettingsText.lines(settings).contains { $0.hasPrefix("retry-failed=") })
        }
    }

    @Test("DownloadTable: the session column is shown on request and is dropped last")
    func sessions() {
        var other = ListedDownload.sample("0123456789abcdef", .paused, name: "a.iso")
        other.session = "player"
        func lines(_ width: Int?) -> [String] {
            DownloadTable(width: width, showsSessions: true).lines(
                [other, downloads[2]], identifiers: ShortIdentifiers(["0123456789abcdef", "1111111111111111"]))
        }
        #expect(
            lines(nil) == [
                "ID      STATE        DONE    SIZE  SPEED  LEFT  SESSION  NAME",
                "012345  paused      50.0%  1.0 MB      -     -  player   a.iso",
                "111111  completed  100.0%  1.0 MB      -     -  default  c\\x1b[31m.iso",
            ])
        #expect(lines(48)[0] == "ID      STATE        DONE  SESSION  NAME")
        #expect(lines(40)[0] == "ID      STATE        DONE  NAME")
    }

    @Test("DownloadTable: without downloads there are no lines")
    func empty() { #expect(DownloadTable(width: 80).lines([], identifiers: ShortIdentifiers([])) == []) }
}
