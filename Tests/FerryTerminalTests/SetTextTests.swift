import FerryCore
import Testing

@testable import Ferry
@testable import FerryTerminal

@Suite("Lines of ferry sync") struct SetTextTests {
    @Test("SyncText: what of a directory is left out is named, twenty paths without -v")
    func skipped() {
        var skipped = [
            SkippedFile(path: "a\u{1B}", kind: .symbolicLink), SkippedFile(path: "b", kind: .special),
        ]
        #expect(
            SyncText.lines(skipped: skipped, isVerbose: false) == [
                "left out: a\\x1b: a symbolic link, which is not followed",
                "left out: b: neither a file nor a directory",
            ])
        for number in 0..<30 { skipped.append(SkippedFile(path: "c\(number)", kind: .special)) }
        let lines = SyncText.lines(skipped: skipped, isVerbose: false)
        #expect(lines.count == 21 && lines.last == "and 12 more")
        #expect(SyncText.lines(skipped: skipped, isVerbose: true).count == 32)
    }

    @Test("SyncText: with --delete, what stays is said to be of another source or changed, unless there is a problem")
    func kept() {
        var report = SyncReport()
        report.gone = ["a"]
        func first(deletes: Bool) -> String? {
            SyncText.lines(report, deletes: deletes, isVerbose: false).first
        }
        #expect(first(deletes: false) == "no longer listed by the source, kept here: a")
        #expect(first(deletes: true)?.contains("because it is from another source or was changed here: a") == true)
        report.problems = ["the list was not read whole"]
        #expect(first(deletes: true) == "no longer listed by the source, kept here: a")
    }

    @Test("SetAdvice: a private address suggests to leave out --no-private, not an option of another command")
    func privateAddress() {
        let error = DownloadError(
            .refused, ErrorPhrase(.privateAddress, "h"), suggestion: ErrorPhrase(.allowPrivate), recovery: .permanent)
        #expect(SetAdvice.advised(error).suggestionPhrase?.key == .leaveOutNoPrivate)
    }

    @Test("PlanRecord: an object is a line of its size, date and URL, whatever its store says of it")
    func listed() {
        var object = ListedObject(
            url: "s3://bucket/a%20b", totalBytes: 5, lastModified: "2026-01-02T03:04:05.000Z", etag: "\"1\"")
        #expect(PlanRecord.text(object) == "5\t2026-01-02T03:04:05.000Z\ts3://bucket/a%20b")
        (object.totalBytes, object.lastModified) = (nil, "\u{1B}[2J\t")
        #expect(PlanRecord.text(object).utf8.count { $0 == UInt8(ascii: "\t") } == 2)
        #expect(PlanRecord.text(object).hasPrefix("\t\\x1b[2J"))
    }

    @Test(
        "PlanRecord: of an existing file it says what --on-conflict does to it",
        arguments: [(.overwrite, "it is replaced"), (.fail, "the download fails"), (.skip, "nothing is fetched")]
            as [(ConflictRule, String)])
    func existing(rule: ConflictRule, outcome: String) throws {
        let plan = DownloadPlan(name: "a", redactedURL: "http://h/a", existingPath: "/d/a")
        let line = try #require(PlanRecord.text(plan, rule).first { $0.hasPrefix("exists:") })
        #expect(line.contains("/d/a: it is") && line.hasSuffix(outcome), "\(line)")
    }

    @Test("PlanRecord: without ranges a download is not just resumable")
    func rangeless() throws {
        var plan = DownloadPlan(name: "a", redactedURL: "http://h/a", resumability: .proven)
        func line() throws -> String { try #require(PlanRecord.text(plan).first { $0.hasPrefix("resumable:") }) }
        #expect(try line().hasSuffix("yes, but all bytes are sent again"))
        plan.acceptsRanges = true
        #expect(try line().hasSuffix("yes, proven"))
    }

    @Test("SyncText: files of a directory are stored and not fetched")
    func stored() {
        var report = SyncReport()
        (report.listedCount, report.fetchedCount, report.storedBytes) = (3, 2, 3000)
        #expect(
            SyncText.lines(report, isOfDirectory: true, isVerbose: false) == [
                "3 files listed: 0 unchanged, 2 stored (3.0 KB), 0 incomplete"
            ])
        report.listedCount = 1
        #expect(
            SyncText.lines(report, isOfDirectory: true, isVerbose: false) == [
                "1 file listed: 0 unchanged, 2 stored (3.0 KB), 0 incomplete"
            ])
        report.listedCount = 3
        #expect(
            SyncText.lines(report, isVerbose: false) == ["3 files listed: 0 unchanged, 2 fetched (0 B), 0 incomplete"])
    }
}
