import Ferry
import FerryTerminal
import FerryTesting
import Foundation
import Testing

@Suite("JSON lines") struct JSONLineTests {
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
        return events.map { JSONLine.line(DownloadEvent(id: id, date: date, kind: $0)) }
            + [JSONLine.progress(status, date: date)]
    }

    @Test("JSONLine: each event gives exactly its JSON line")
    func golden() {
        func line(_ members: String) -> String {
            let all =
                members.split(separator: ";").map(String.init) + [
                    #""date":"2025-01-31T09:05:00.250Z""#, #""id":"00ff""#, #""v":1"#,
                ]
            return "{" + all.sorted().joined(separator: ",") + "}"
        }
        #expect(
            Self.lines.map(\.text) == [
                line(#""kind":"added";"url":"http://h/f?…""#), line(#""kind":"started";"name":"f""#),
                line(#""kind":"resumed";"offset":5;"totalBytes":10;"reason":"strong ETag""#),
                line(#""kind":"retrying";"attempt":2;"delay":1.5;"reason":"reset""#),
                line(#""kind":"restarted";"reason":"ETag changed""#),
                line(#""kind":"waiting";"waitReason":"diskSpace";"message":"no space""#),
                line(#""kind":"note";"text":"found 4""#), line(#""kind":"paused""#),
                line(
                    #""kind":"completed";"file":{"finalURL":"","path":"/d/f","proof":"strong","receivedBytes":0,"#
                        + #""totalBytes":10,"wasAlreadyComplete":false}"#),
                line(
                    #""kind":"failed";"exitCode":7;"error":{"code":"checksum","message":"wrong","#
                        + #""messages":{"en":"wrong","zh":"文件校验失败：wrong"}}"#),
                line(#""kind":"cancelled""#),
                line(
                    #""kind":"progress";"completedBytes":5;"totalBytes":10;"bytesPerSecond":2.9;"timeRemaining":2.5;"#
                        + #""connections":3"#),
            ])
        let failed = JSONLine.failed(
            DownloadError(.disk, "m", suggestion: "s", underlying: "u\u{1B}"), id: nil, date: Self.date, command: "c")
        #expect(
            failed.text == #"{"command":"c","date":"2025-01-31T09:05:00.250Z","error":{"code":"disk","message":"m","#
                + #""messages":{"en":"m","zh":"磁盘读写出错：m"},"suggestion":"s","suggestions":{"en":"s","zh":"s"},"#
                + #""underlying":"u\u001b"},"exitCode":8,"kind":"failed","v":1}"#)
    }

    /// The members of a line, those of objects in it as `name.member`.
    private static func members(_ record: JSONLine) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(record.text.utf8))
        var members: [String: Any] = [:]
        for (name, value) in try #require(object as? [String: Any]) {
            guard let inner = value as? [String: Any] else {
                members[name] = value
                continue
            }
            for (own, value) in inner { members["\(name).\(own)"] = value }
        }
        return members
    }

    @Test("docs/cli.md has exactly the members that are written, for every event")
    func documented() throws {
        var documented: [String: Set<String>] = [:]
        for row in try Documentation("cli.md").rows(after: "| kind | member |") {
            documented[row[0], default: []].formUnion(row[1].isEmpty ? [] : [row[1]])
        }
        let every = documented.removeValue(forKey: "every")
        let common = try #require(every)
        let file = FinishedDownload(
            path: "/d/f", totalBytes: 10, proof: .strong, redactedFinalURL: "u", contentType: "t", etag: "e",
            lastModified: "l",
            checksum: Checksum(algorithm: .md5, bytes: [UInt8](repeating: 0, count: 16)), storedETag: "s")
        let error = DownloadError(
            .disk, ErrorPhrase(.noFile), suggestion: ErrorPhrase(.runAgain), underlying: "u", recovery: .needsUser)
        let kinds: [DownloadEvent.Kind] = [
            .started(name: "f", totalBytes: 5), .completed(file),
            .waiting(.server(since: Self.date, until: Self.date), message: "m"),
        ]
        var full = kinds.map { JSONLine.line(DownloadEvent(id: Self.id, date: Self.date, kind: $0, number: 1)) }
        full.append(JSONLine.failed(error, id: Self.id, date: Self.date, command: "c"))
        let limit = Bottleneck(
            .loss, bytesPerSecond: 1, connections: 2, share: 0.1, seconds: 0.1, windowBytes: 3)
        let limited = DownloadStatus(
            id: Self.id, state: .downloading, progress: DownloadProgress(bottleneck: limit), name: "f")
        full.append(JSONLine.progress(limited, date: Self.date))
        let restarted = LocalizedEvent.restarted(reason: Reason(.tagChanged, "a", "b"))
        full.append(JSONLine.line(DownloadEvent(id: Self.id, date: Self.date, restarted)))
        var written: [String: Set<String>] = [:]
        for record in Self.lines + full {
            let members = try Self.members(record)
            let kind = try #require(members["kind"] as? String)
            written[kind, default: []].formUnion(Set(members.keys).subtracting(common))
        }
        #expect(documented == written)
    }

    @Test("docs/cli.md has exactly the members of a plan")
    func planDocumented() throws {
        var plan = DownloadPlan.sample
        plan.contentType = "t"
        plan.heldBytes = 1
        plan.existingPath = "/d/f"
        let documented = try Documentation("cli.md").rows(after: "| member | type |").map { $0[0] }
        #expect(Set(documented) == Set(try Self.members(.plan(plan, date: Self.date)).keys))
    }

    @Test("ExitCode: docs/cli.md has exactly the program's exit codes and meanings")
    func codesDocumented() throws {
        let documented = try Documentation("cli.md").rows(after: "| code | meaning |").map { "\($0[0]) \($0[1])" }
        #expect(documented == ExitCode.allCases.map { "\($0.rawValue) \($0.meaning)" })
    }
}

extension DownloadPlan {
    static var sample: DownloadPlan {
        DownloadPlan(
            name: "f.iso", redactedURL: "http://h/f.iso?…", totalBytes: 1_000_000_000, acceptsRanges: true,
            validator: "\"a\"", validatorStrength: .strong, digests: [], contentType: nil, freeBytes: 12_000_000_000,
            resumability: .proven,
            reason: "strong ETag", heldBytes: nil, maxConnections: 16)
    }
}
