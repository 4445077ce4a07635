import FerryTesting
import Foundation
import Testing

/// Misbehaving servers as a user of the command sees them: exit code, message, remaining files.
@Suite("The binary: servers that misbehave", .serialized, .timeLimit(.minutes(30))) struct RowProcessTests {
    private static let resource = Resource(size: 3_000_000, seed: 61)

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var behaviours: [Behaviour] = []
        var then: Behaviour = .honest
        var arguments: [String] = []
        var code: Int32
        /// Text on standard error.
        var words: String = ""
        /// The names in the directory afterwards.
        var names: [String] = []
        var testDescription: String { name }
    }

    private static let part = ["f.bin.part", "f.bin.part.ferry"]

    static let cases: [Case] = [
        Case(name: "A2: ranges that are ignored", then: .ignoreRange, code: 0, names: ["f.bin"]),
        Case(
            name: "A18: bytes that are encoded unasked are saved as sent", then: .contentEncoding(), code: 0,
            words: "the server sends it compressed", names: ["f.bin"]),
        Case(name: "A20: an error page", then: .status(400), code: 4, words: "answered 400"),
        Case(
            name: "A21: cut, without another attempt", then: .cut(after: 2_000_000), arguments: ["--retries", "0"],
            code: 3, words: "before the end of the body", names: part),
        Case(
            name: "A21: cut and reset", behaviours: [.cut(after: 1_500_000), .cut(after: 1_000_000, .reset)], code: 0,
            names: ["f.bin"]),
        Case(name: "A22: too long", then: .excess(1000), code: 0, names: ["f.bin"]),
        Case(name: "A24: two lengths", then: .secondContentLength("17"), code: 4, words: "unusable answer"),
        Case(name: "A24: both framings", then: .lengthAndChunked, code: 4, words: "unusable answer"),
        Case(
            name: "A25: chunks cut short", then: .missingLastChunk, arguments: ["--retries", "0"], code: 3,
            words: "before the end of the body", names: part),
        Case(
            name: "A26: ended by close, strictly", then: .closeDelimited(), arguments: ["--strict"], code: 4,
            words: "no length"),
        Case(name: "A26: ended by close", then: .closeDelimited(), code: 0, names: ["f.bin"]),
        Case(name: "A27: bad chunk sizes", then: .badChunkSize("zz"), code: 4, words: "unusable answer"),
        Case(
            name: "A28: silence", then: .silence, arguments: ["--stall-timeout", "1", "--retries", "0"], code: 3,
            words: "no answer in time"),
        Case(
            name: "A29: too large", then: .endlessBody(), arguments: ["--max-size", "2MB"], code: 4,
            words: "larger than"),
        Case(name: "A29: a larger length", arguments: ["--max-size", "2MB"], code: 4),
        Case(
            name: "A30: garbage", then: .raw("what is this\n\n"), code: 4,
            words: "first line is not an HTTP status line"),
        Case(name: "A30: an endless head", then: .endlessHead, code: 4, words: "its header is too large"),
        Case(name: "A31: many 1xx", then: .informational(50), code: 0, names: ["f.bin"]),
        Case(name: "A32: 204", then: .bodiless(204), code: 4, words: "204"),
        Case(name: "A33: a redirect loop", then: .redirectLoop, code: 4, words: "circles"),
        Case(name: "A34: to a file", then: .redirect(to: "file:///etc/passwd"), code: 4, words: "cannot be followed"),
        Case(name: "A37: 404", then: .status(404), code: 4, words: "answered 404"),
        Case(name: "A37: 401", then: .status(401), code: 5, words: "--user"),
        Case(
            name: "A38: busy, without another attempt", then: .status(503), arguments: ["--retries", "0"], code: 4,
            words: "answered 503"),
        Case(name: "A38: busy, then the file", behaviours: [.status(503), .status(429)], code: 0, names: ["f.bin"]),
        Case(
            name: "A44: closed before an answer", then: .drop(), arguments: ["--retries", "0"], code: 3,
            words: "before an answer"),
        Case(
            name: "A45: a wrong Content-Digest once", behaviours: [.wrongContentDigest], code: 0, names: ["f.bin"]),
        Case(
            name: "A45: a wrong Repr-Digest", then: .wrongReprDigest, code: 7, words: "expected sha-256=", names: part),
        Case(
            name: "A45: a wrong Content-MD5", then: .field("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="), code: 7,
            words: "expected md5=", names: part),
        Case(
            name: "A45: a wrong Content-Digest each time", then: .wrongContentDigest, code: 7,
            words: "Content-Digest: expected sha-256="),
        Case(
            name: "A45: a wrong Content-Digest each time, which is not to count", then: .wrongContentDigest,
            arguments: ["--checksum", "none"], code: 0, names: ["f.bin"]),
    ]

    @Test(
        "ferry get: a misbehaving server gives its exit code and message, and the right file or none", arguments: cases)
    func row(row: Case) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", row.behaviours, then: row.then)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "-x", "1"] + row.arguments + [server.url("/f.bin")], in: place)
            #expect(outcome.code == row.code, "\(outcome.error)")
            #expect(outcome.error.contains(row.words) || row.words.isEmpty, "\(outcome.error)")
            if row.code == 0 {
                #expect(outcome.lines == [place.path("f.bin")])
                #expect(
                    Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
            } else {
                #expect(outcome.output.isEmpty)
                #expect(!place.names.contains("f.bin"))
            }
            if !row.names.isEmpty { #expect(place.names == row.names) }
        }
    }

    @Test(
        "ferry get: a changed file is exit code 6 with --no-restart, and else starts over (A4, A13, A14)"
    )
    func changed() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 2_000_000)], then: .status(403))
            let place = try Workplace()
            _ = try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place)
            let new = Resource(size: 3_500_000, seed: 62, lastModified: Date(timeIntervalSince1970: 1_720_000_000))
            server.serve("/f.bin", new)
            server.always("/f.bin", .honest)
            let strict = try await FerryProcess.run(["get", "--no-restart", server.url("/f.bin")], in: place)
            #expect(strict.code == 6, "\(strict.error)")
            #expect(place.names == Self.part)
            let again = try await FerryProcess.run(["get", "-v", "--no-progress", server.url("/f.bin")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.error.contains("the size was 3000000 bytes and is 3500000"), "\(again.error)")
            #expect(new.source.compare(file: place.path("f.bin"), size: new.size) == .equal)
            #expect(place.names == ["f.bin"])
        }
    }

    @Test(
        "ferry get: another length under the ETag of the part file is exit code 5, and the part file stays (A14)",
        arguments: [[], ["--strict"], ["--no-restart"]])
    func sameTag(options: [String]) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 2_000_000)], then: .status(403))
            let place = try Workplace()
            _ = try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place)
            for size in [0, 5, 2_500_000, 3_500_000] as [Int64] {
                server.always("/f.bin", .version { $0.size = size })
                let run = try await FerryProcess.run(["get", server.url("/f.bin")] + options, in: place)
                #expect(run.code == 5, "\(run.error)")
                #expect(run.error.contains("the size was 3000000 bytes and is \(size)"), "\(run.error)")
                #expect(place.names == Self.part)
            }
            server.always("/f.bin", .honest)
            let run = try await FerryProcess.run(["get", server.url("/f.bin")] + options, in: place)
            #expect(run.code == 0, "\(run.error)")
            #expect(Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
        }
    }

    @Test("ferry get: a web page is exit code 5 and keeps the part file; the next run completes (A19, A36)")
    func page() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .htmlPage())
            let place = try Workplace()
            let first = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(first.code == 5 && first.error.contains("web page") && first.error.contains("--accept-html"))
            #expect(place.names.isEmpty)
            server.script("/f.bin", [.cut(after: 2_000_000)], then: .htmlPage())
            let cut = try await FerryProcess.run(
                ["get", "--no-progress", "-x", "1", server.url("/f.bin")], in: place)
            #expect(cut.code == 5, "\(cut.error)")
            // Once the page is gone, the same command goes on.
            #expect(cut.error.contains("get past the page in a browser and run it again"), "\(cut.error)")
            #expect(place.names == Self.part)
            let before = server.bodyBytes()
            server.always("/f.bin", .honest)
            #expect(try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place).code == 0)
            #expect(server.bodyBytes() - before == 1_000_000)
            #expect(place.names == ["f.bin"])
            server.always("/f.bin", .htmlPage())
            let taken = try await FerryProcess.run(
                ["get", "--accept-html", "-o", "page.bin", server.url("/f.bin")], in: place)
            #expect(taken.code == 0, "\(taken.error)")
            #expect(String(decoding: try place.data("page.bin"), as: UTF8.self).contains("please log in"))
        }
    }

    @Test("ferry get: a hostile name stays in the directory and is printed without control characters (A39, A40)")
    func names() async throws {
        try await OriginServer.with { server in
            var resource = Self.resource
            resource.contentDisposition = "attachment; filename*=UTF-8''..%2F..%2Fa%1B%5B31mb%E2%80%AE.txt"
            server.serve("/f.bin", resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(["get", "-v", "--no-progress", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(place.names == ["a_[31mb_.txt"])
            #expect(outcome.lines == [place.path("a_[31mb_.txt")])
            #expect(!outcome.error.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
        }
    }

    @Test("ferry get: https to http is exit code 4 with its option (A34)")
    func refusals() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        try await OriginServer.with(configuration) { secure in
            secure.serve("/f.bin", Self.resource)
            secure.always("/f.bin", .redirect(to: "http://127.0.0.1:9/f.bin"))
            let place = try Workplace()
            let outcome = try await FerryProcess.run(["get", "--insecure", secure.url("/f.bin")], in: place)
            #expect(outcome.code == 4, "\(outcome.error)")
            #expect(outcome.error.contains("--allow-downgrade"), "\(outcome.error)")
            #expect(place.names.isEmpty)
        }
    }

    /// The peak resident memory of a process, in bytes (Linux).
    private func peakMemory(of process: FerryProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return (Int(line.split(separator: " ").dropLast().last ?? "") ?? .max) * 1024
    }

    #if os(Linux)
        @Test(
            "ferry get: endless bodies and interim responses do not grow the memory (A29, A31)",
            .disabled(if: FerryProcess.isSanitized, "the thread sanitizer's own memory would be measured"),
            arguments: [0, 1, 2])
        func memory(kind: Int) async throws {
            var configuration = OriginServer.Configuration()
            configuration.sendBuffer = 65_536
            try await OriginServer.with(configuration) { server in
                server.serve("/f.bin", Self.resource)
                let interim = Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8)
                let behaviour: Behaviour =
                    switch kind {
                    case 0: .endlessBody()
                    case 1: .endlessBody(chunked: true)
                    default: Behaviour { answer, _, _ in answer.before = [.endless(interim)] }
                    }
                server.always("/f.bin", behaviour)
                let place = try Workplace()
                let process = try FerryProcess(["get", "--no-progress", server.url("/f.bin")], in: place)
                // Many times the permitted memory of the process.
                let most: Int64 = kind == 2 ? 100_000_000 : 400_000_000
                try await server.waitFor { $0.bodyBytes > most }
                let peak = try peakMemory(of: process)
                process.signal(SIGKILL)
                _ = try await process.outcome()
                #expect(peak < 150_000_000, "\(peak)")
            }
        }
    #endif
}
