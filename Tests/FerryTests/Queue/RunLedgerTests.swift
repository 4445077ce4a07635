import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Ledger of runs", .timeLimit(.minutes(30)))
struct RunLedgerTests {
    let path = FilePath(FileManager.default.temporaryDirectory.path + "/ferry-ledger-" + UUID().uuidString)
    let disk = LocalFileSystem()

    private func id(_ text: String) -> DownloadID { DownloadID(rawValue: text) }
    private func open() throws -> RunLedger { try RunLedger.open(at: path, fileSystem: disk) }

    private func rewrite(_ change: (inout LedgerRecord) -> Void) throws {
        let bytes = try Data(contentsOf: URL(filePath: path.string))
        var record = try #require(LedgerRecord(Array(bytes)[..<LedgerRecord.bytes]))
        change(&record)
        try Data(record.encoded).write(to: URL(filePath: path.string))
    }

    @Test("Ledger: each process death counts once for each running download, until a run ends otherwise")
    func counts() throws {
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        for crashes in 0..<3 {
            let ledger = try open()
            #expect(ledger.crashes(of: id("a")) == crashes)
            #expect(ledger.crashes(of: id("b")) == 0)
            ledger.begin(id("b"))
            ledger.begin(id("a"))
            ledger.end(id("b"))
        }
        #expect(try open().crashes(of: id("a")) == 3)
        // Without a run since then nothing is added.
        let last = try open()
        #expect(last.crashes(of: id("a")) == 3)
        last.begin(id("a"))
        last.end(id("a"))
        #expect(try open().crashes(of: id("a")) == 0)
    }

    @Test("Ledger: after a requested end of the process no run is counted")
    func shutdown() throws {
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        try open().begin(id("a"))
        let ledger = try open()
        ledger.begin(id("a"))
        ledger.begin(id("b"))
        ledger.endAll()
        // A run that begins after `endAll`.
        ledger.begin(id("c"))
        let next = try open()
        #expect([id("a"), id("b"), id("c")].map(next.crashes) == [0, 0, 0])
    }

    @Test("Ledger: another boot of the system adds no death and keeps earlier counts")
    func powerCut() throws {
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        try open().begin(id("a"))
        try open().begin(id("a"))
        try rewrite { $0.boot = "another" }
        #expect(try open().crashes(of: id("a")) == 1)
    }

    @Test("Ledger: torn, foreign and absurd records count no death and never trap")
    func damage() throws {
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        try open().begin(id("a"))
        let whole = Array(try Data(contentsOf: URL(filePath: path.string)))
        let end = try #require(whole.firstIndex(of: LedgerRecord.blank))
        for index in 0..<end {
            var bytes = whole
            bytes[index] ^= 0x11
            try Data(bytes).write(to: URL(filePath: path.string))
            #expect(try open().crashes(of: id("a")) == 0, "byte \(index)")
        }
        for text in ["", "runs", "0 runs 9223372036854775807 b 99999999 a", String(repeating: " ", count: 5000)] {
            try Data(text.utf8).write(to: URL(filePath: path.string))
            #expect(try open().crashes(of: id("a")) == 0)
        }
        for number in ExtremeNumbers.all {
            let line = "runs \(number) b \(number) a"
            let sealed = String(CRC32.checksum(line.utf8), radix: 16) + " " + line
            try Data(sealed.utf8).write(to: URL(filePath: path.string))
            #expect(try open().crashes(of: id("a")) <= 3)
        }
    }

    @Test("Ledger: identifiers of any length and characters are distinct, and unlisted ones are removed")
    func identifiers() throws {
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        let ids = ["a b", "a\nb", "a", "文件", String(repeating: "x", count: 1000), " ", "1 a"].map(id)
        let ledger = try open()
        for id in ids { ledger.begin(id) }
        let next = try open()
        #expect(ids.map(next.crashes) == ids.map { _ in 1 })
        next.keep(only: [ids[0]])
        #expect(ids.map(next.crashes) == [1, 0, 0, 0, 0, 0, 0])
        #expect(try open().crashes(of: ids[0]) == 1)
    }

    @Test("Ledger: the file has as many records as runs at the same time, however many have run")
    func size() throws {
        defer { try? FileManager.default.removeItem(atPath: path.string) }
        let ledger = try open()
        for number in 0..<1000 {
            ledger.begin(id("a\(number)"))
            ledger.begin(id("b\(number)"))
            ledger.end(id("a\(number)"))
            ledger.end(id("b\(number)"))
        }
        #expect(try Data(contentsOf: URL(filePath: path.string)).count == 2 * LedgerRecord.bytes)
    }
}
