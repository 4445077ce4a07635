import Ferry
import FerryTerminal
import Foundation
import Testing

@Suite("JSON lines") struct EventRecordTests {
    private static let id = DownloadID(rawValue: "00ff")
    private static let date = Date(timeIntervalSince1970: 1_738_314_300.25)

    /// One event of every kind.
    static let events: [DownloadEvent.Kind] = [
        .added(url: "http://h/f?…"), .started(name: "f", totalBytes: nil),
        .resumed(offset: 5, totalBytes: 10, reason: "strong ETag"),
        .retrying(attempt: 2, delay: .milliseconds(1500), reason: "reset"), .restarted(reason: "ETag changed"),
        .waiting(.diskSpace, message: "no space"), .note("found 4"), .paused,
        .completed(FinishedDownload(path: "/d/f", totalBytes: 10, proof: .strong)),
        .failed(DownloadError(.checksum, "wrong")), .cancelled,
    ]

    static var lines: [JSONLine] {
        let progress = DownloadProgress(
            completedBytes: 5, totalBytes: 10, bytesPerSecond: 2.9, timeRemaining: .seconds(2.5), connections: 3)
        let status = DownloadStatus(id: id, state: .downloading, progress: progress, name: "f")
        return events.map { EventRecord.line(DownloadEvent(id: id, date: date, kind: $0)) }
            + [EventRecord.progress(status, date: date)]
    }

    @Test("EventRecord: each event gives exactly its JSON line")
    func golden() {
        let head = #""time":"2025-01-31T09:05:00.250Z","id":"00ff""#
        #expect(
            Self.lines.map(\.text) == [
                #"{"v":1,"event":"added",\#(head),"url":"http://h/f?…"}"#,
                #"{"v":1,"event":"started",\#(head),"name":"f","totalBytes":null}"#,
                #"{"v":1,"event":"resumed",\#(head),"offset":5,"totalBytes":10,"reason":"strong ETag"}"#,
                #"{"v":1,"event":"retry",\#(head),"attempt":2,"delay":1.5,"reason":"reset"}"#,
                #"{"v":1,"event":"restarted",\#(head),"reason":"ETag changed"}"#,
                #"{"v":1,"event":"waiting",\#(head),"for":"diskSpace","message":"no space"}"#,
                #"{"v":1,"event":"note",\#(head),"message":"found 4"}"#,
                #"{"v":1,"event":"paused",\#(head)}"#,
                #"{"v":1,"event":"completed",\#(head),"path":"/d/f","totalBytes":10,"proof":"strong","alreadyComplete":false,"#
                    + #""receivedBytes":0,"finalURL":null,"contentType":null}"#,
                #"{"v":1,"event":"failed",\#(head),"code":"checksum","exitCode":7,"message":"wrong","underlying":null,"#
                    + #""suggestion":null,"command":null}"#,
                #"{"v":1,"event":"cancelled",\#(head)}"#,
                #"{"v":1,"event":"progress",\#(head),"completedBytes":5,"totalBytes":10,"bytesPerSecond":2,"#
                    + #""timeRemaining":2.5,"connections":3}"#,
            ])
    }

    @Test("EventRecord: a part file without a URL has null as its URL")
    func noURL() {
        let line = EventRecord.line(DownloadEvent(id: Self.id, date: Self.date, kind: .added(url: ""))).text
        #expect(line.hasSuffix(#""url":null}"#))
        #expect(EventText.line(.added(url: ""), name: "f.part", detail: .verbose) == "f.part: added")
    }

    @Test("EventRecord: docs/cli.md has exactly the fields that are written for each event")
    func documented() throws {
        var documented: [String: [String]] = [:]
        for row in try Self.table(after: "| event | field |") {
            documented[row[0], default: []] += row[1].isEmpty ? [] : [row[1]]
        }
        let every = documented.removeValue(forKey: "every")
        let common = try #require(every)
        var written: [String: [String]] = [:]
        for line in Self.lines {
            guard case .string(let event) = line.fields[1].value else {
                Issue.record("the second field is the event")
                continue
            }
            #expect(Array(line.keys.prefix(common.count)) == common)
            written[event] = Array(line.keys.dropFirst(common.count))
        }
        #expect(documented == written)
    }

    @Test("PlanRecord: docs/cli.md has exactly the fields of a plan")
    func planDocumented() throws {
        let plan = DownloadPlan.sample
        let documented = try Self.table(after: "| field | type |").map { $0[0] }
        #expect(documented == PlanRecord.line(plan, date: Self.date).keys)
    }

    @Test("ExitCode: docs/cli.md has exactly the program's exit codes and meanings")
    func codesDocumented() throws {
        let documented = try Self.table(after: "| code | meaning |").map { "\($0[0]) \($0[1])" }
        #expect(documented == ExitCode.allCases.map { "\($0.rawValue) \($0.meaning)" })
    }

    /// The rows of the table with this head, cells without blanks and back quotes.
    private static func table(after head: String) throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/cli.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix(head) })
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
        }
    }
}

extension DownloadPlan {
    static var sample: DownloadPlan {
        DownloadPlan(
            name: "f.iso", url: "http://h/f.iso?…", totalBytes: 1_000_000_000, acceptsRanges: true, validator: "\"a\"",
            validatorStrength: .strong, digests: [], contentType: nil, freeBytes: 12_000_000_000, resumability: .proven,
            reason: "strong ETag", heldBytes: nil, maxConnections: 16)
    }
}
