import FerryTerminal
import Testing

@testable import Ferry

@Suite("Lines of ferry sync") struct SetTextTests {
    @Test("SyncText: what of a directory is left out is named, twenty paths without -v")
    func skipped() {
        var skipped = ["b": SkippedFile.special, "a\u{1B}": .symbolicLink]
        #expect(
            SyncText.lines(skipped: skipped, isVerbose: false) == [
                "left out: a\\x1b: a symbolic link, which is not followed",
                "left out: b: neither a file nor a directory",
            ])
        for number in 0..<30 { skipped["c\(number)"] = .special }
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
        #expect(first(deletes: false) == "not listed by the source any more, kept here: a")
        #expect(first(deletes: true)?.contains("as it is of another source or was changed here: a") == true)
        report.problems = ["the list was not read whole"]
        #expect(first(deletes: true) == "not listed by the source any more, kept here: a")
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
