import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryEngine

@Suite("Numbers in response heads", .timeLimit(.minutes(30)))
struct HeadNumbersTests {
    private static let length = HTTPField.Name.contentLength

    private func head(_ status: Int, _ fields: [HTTPField.Name: String]) -> ResponseHead {
        var headers = HTTPFields()
        headers[.eTag] = "\"e\""
        for (name, value) in fields { headers[name] = value }
        return ResponseHead(status: status, headers: headers)
    }

    /// Every head that a pair of numbers makes.
    private func heads(_ one: ByteCount, _ other: ByteCount) -> [ResponseHead] {
        [
            head(200, [Self.length: "\(one)"]),
            head(200, [Self.length: "\(one)", .retryAfter: "\(other)"]),
            head(206, [.contentRange: "bytes \(one)-\(other)/*"]),
            head(206, [.contentRange: "bytes 0-\(one)/\(other)"]),
            head(206, [.contentRange: "bytes \(one)-\(one)/\(other)", Self.length: "1"]),
            head(206, [.contentRange: "bytes 500-\(one)/\(other)", Self.length: "\(one.adding(-499))"]),
            head(416, [.contentRange: "bytes */\(one)", Self.length: "\(other)"]),
            head(503, [.retryAfter: "\(one)", Self.length: "\(other)"]),
        ]
    }

    private func total(_ verdict: ResponseVerdict) -> ByteCount? {
        switch verdict {
        case .whole(let representation), .part(_, let representation), .unsatisfied(let representation):
            representation.identity.totalBytes
        default: nil
        }
    }

    @Test("TransferMachine: heads with any pair of extreme numbers never trap and give valid sizes")
    func machine() {
        for (one, other) in ExtremeNumbers.pairs {
            for head in heads(one, other) {
                for asked in [RangeAsk.whole, .from(500), .range(500..<1000), .range(500..<(.bound - 1))] {
                    let verdict = ResponseVerdict.judge(head, asked: asked, now: Date())
                    #expect(total(verdict)?.isSize ?? true, "\(head)")
                    if case .part(let range, _) = verdict { #expect(range.upperBound.isSize) }
                    run(verdict, held: asked == .whole ? nil : 0..<500)
                }
            }
        }
    }

    /// Plays a response to its end with a machine that holds nothing, or the beginning of a file of any size.
    private func run(_ verdict: ResponseVerdict, held: Range<ByteCount>?) {
        for total in [nil, 1000, ByteCount.bound - 1] as [ByteCount?] {
            let identity = FileIdentity(etag: "\"e\"", totalBytes: total)
            var machine = TransferMachine(
                settings: TransferMachine.Settings(),
                held: held.map { FerryCore.PartialContent(identity: identity, ranges: RangeSet($0)) }, total: total)
            var now = Duration.zero
            for _ in 0..<3 {
                for case .open(let id) in machine.tick(at: now) {
                    guard case .fetch = machine.next(for: id, at: now) else { continue }
                    switch machine.headReceived(verdict, on: id, at: now, random: 0.5) {
                    case .begin, .read, .restartWith:
                        machine.arrived(1 << 16, on: id, at: now)
                        if case .write = machine.place(1 << 16, on: id) { machine.wrote(on: id) }
                        machine.ended(id, .complete, at: now, random: 0.5)
                    case .unchanged, .drop, .leave: machine.ended(id, .stopped, at: now, random: 0.5)
                    }
                }
                now += .seconds(30)
            }
            #expect(machine.bytes.writtenBytes.isSize)
        }
    }

    @Test("PartFiles: shortage() compares any need with any reserve without a trap")
    func room() throws {
        let directory = try TemporaryDirectory()
        func hasRoom(at path: String?, _ missing: ByteCount, _ total: ByteCount, reserve: ByteCount) -> Bool {
            PartFiles.shortage(
                at: path, in: "\(directory.path)", missing: missing, total: total, reserve: reserve,
                fileSystem: LocalFileSystem()) == nil
        }
        for (one, other) in ExtremeNumbers.pairs {
            _ = hasRoom(at: nil, one, other, reserve: other)
            _ = hasRoom(at: "\(directory.path)/a.part", other, one, reserve: one)
        }
        #expect(!hasRoom(at: nil, .max, .max, reserve: 0))
        #expect(hasRoom(at: nil, 0, 0, reserve: 0))
    }

    @Test("ResumeData: extreme sizes are read back unchanged or refused")
    func resumeData() throws {
        for (completed, total) in ExtremeNumbers.pairs {
            let data = try? ResumeData(
                id: DownloadID(rawValue: "a"), sources: [try DownloadURL("http://h/")], partPath: "/a.part",
                totalBytes: total, completedBytes: completed, created: Date(timeIntervalSince1970: 0))
            #expect(
                (data != nil) == (completed.isSize && total.isSize && completed <= total), "\(completed) of \(total)")
            if let data { #expect(try ResumeData(data.data) == data) }
        }
    }

    @Test("SizeText: a size of 2^62 or more is refused, and sums of sizes saturate")
    func words() throws {
        for number in ExtremeNumbers.all {
            let size = try? SizeText.parse("\(number)")
            #expect(size == (number.isSize ? number : nil))
            for unit in ["B", "K", "TiB", "/s"] { _ = try? SizeText.parseRate("\(number)\(unit)") }
            for unit in ["", "ms", "d"] { _ = try? DurationText.parse("\(number)\(unit)") }
            _ = ByteText.size(number)
            _ = ByteText.progress(completed: number, total: number)
        }
        for (one, other) in ExtremeNumbers.pairs {
            let (sum, overflows) = one.addingReportingOverflow(other)
            #expect(one.adding(other) == (overflows ? (other < 0 ? .min : .max) : sum))
        }
        #expect([ByteCount.max, .max, .max].sum == .max)
    }

    @Test("DownloadProgress: any size in JSON is decoded as a valid size or refused")
    func nouns() {
        let decoder = JSONDecoder()
        for (one, other) in ExtremeNumbers.pairs {
            let text =
                #"{"completedBytes":\#(one),"totalBytes":\#(other),"bytesPerSecond":\#(one),"timeRemaining":\#(other),"#
                + #""connections":1}"#
            let progress = try? decoder.decode(DownloadProgress.self, from: Data(text.utf8))
            if let progress {
                #expect(progress.completedBytes.isSize)
                _ = progress.fraction
            }
        }
        for number in ExtremeNumbers.texts {
            let text =
                #"{"completedBytes":\#(number),"bytesPerSecond":\#(number),"timeRemaining":\#(number),"connections":1}"#
            _ = try? decoder.decode(DownloadProgress.self, from: Data(text.utf8))
        }
    }
}
