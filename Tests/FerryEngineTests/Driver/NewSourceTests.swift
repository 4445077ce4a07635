import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("A new source for a partial download", .timeLimit(.minutes(30)))
struct NewSourceTests {
    private let resource = Resource(size: 8_000_000)

    /// Holds 5 MB of `/old` in `f.part` as download `a`; the body gets the context of its next run.
    private func begun(_ body: @Sendable (DriverRig, RunContext) async throws -> Void) async throws {
        let resource = resource
        try await DriverRig.with { rig in
            rig.server.serve("/old", resource)
            let path = rig.directory.file("f").string
            try await rig.interrupt("/old", after: 5_000_000) { $0.destination = .file(path) }
            #expect(try rig.journal("f").claimed == [[0, 5_000_000]])
            try await body(rig, RunContext(partPath: path + ".part"))
        }
    }

    @Test("Driver: a partial download under a requested name is left to requests of that name")
    func requestedName() async throws {
        try await begun { rig, _ in
            rig.server.always("/old", .honest)
            let end = await rig.run(try rig.request("/old"), id: "b")
            #expect(end.file?.path == rig.directory.file("old").string && end.resumedAt == nil)
            let notes = end.events.compactMap { if case .note(let text) = $0 { "\(text)" } else { nil } }
            #expect(notes.contains { $0.contains("f.part is an unfinished download of this URL") }, "\(notes)")
            let path = rig.directory.file("f").string
            let named = await rig.run(try rig.request("/old") { $0.destination = .file(path) }, id: "c")
            #expect(named.file?.path == path && named.resumedAt == 5_000_000)
        }
    }

    @Test("Driver: a partial download under a requested name that is the URL's is found without the name")
    func sameName() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/old", resource)
            let path = rig.directory.file("old").string
            try await rig.interrupt("/old", after: 5_000_000) { $0.destination = .file(path) }
            let end = await rig.run(try rig.request("/old"), id: "b")
            #expect(end.file?.path == path && end.resumedAt == 5_000_000)
        }
    }

    /// Begins `/old` as `name` beside another file of that name.
    private func numbered(
        _ name: String, _ rig: DriverRig, isNamed: Bool = true
    ) async throws -> (String, @Sendable (inout DownloadRequest) -> Void) {
        rig.server.serve("/old", resource)
        let path = rig.directory.file(name).string
        try rig.directory.put(name, [1, 2, 3])
        let change: @Sendable (inout DownloadRequest) -> Void = { if isNamed { $0.destination = .file(path) } }
        try await rig.interrupt("/old", after: 5_000_000, RunContext(), change)
        return (path, change)
    }

    @Test("Driver: a download under a requested name that is in use resumes under its numbered name")
    func numberedName() async throws {
        try await DriverRig.with { rig in
            let (_, change) = try await numbered("f.bin", rig)
            let end = await rig.run(try rig.request("/old", change), id: "b")
            #expect(end.file?.path == rig.directory.file("f (1).bin").string && end.resumedAt == 5_000_000)
            #expect(try rig.directory.names == ["f (1).bin", "f.bin"])
        }
    }

    @Test("Driver: another rule for conflicts leaves the part file of a numbered name", arguments: [true, false])
    func otherRule(isNamed: Bool) async throws {
        try await DriverRig.with { rig in
            let (path, change) = try await numbered("old", rig, isNamed: isNamed)
            let fails = await rig.run(
                try rig.request("/old") {
                    change(&$0)
                    $0.onConflict = .fail
                }, id: "b")
            #expect(fails.error?.code == .conflict)
            let replaces = await rig.run(
                try rig.request("/old") {
                    change(&$0)
                    $0.onConflict = .overwrite
                }, id: "c")
            #expect(replaces.file?.path == path && rig.holds("old", resource))
            #expect(try rig.directory.names == ["old", "old (1).part", "old (1).part.ferry"])
        }
    }

    @Test("Driver: a file that got the name meanwhile is left by skip and fail, before a byte is fetched")
    func nameTakenMeanwhile() async throws {
        try await begun { rig, _ in
            rig.server.always("/old", .honest)
            let path = rig.directory.file("f").string
            try rig.directory.put("f", [1, 2, 3])
            let bytes = rig.server.bodyBytes("/old")
            for rule in [ConflictRule.skip, .fail] {
                let end = await rig.run(
                    try rig.request("/old") {
                        $0.destination = .file(path)
                        $0.onConflict = rule
                    }, id: "\(rule)")
                #expect(rule == .skip ? end.file?.wasAlreadyComplete == true : end.error?.code == .conflict)
            }
            #expect(rig.server.bodyBytes("/old") == bytes)
            #expect(try rig.directory.names == ["f", "f.part", "f.part.ferry"])
            let end = await rig.run(
                try rig.request("/old") {
                    $0.destination = .file(path)
                    $0.onConflict = .overwrite
                }, id: "c")
            #expect(end.file?.path == path && end.resumedAt == 5_000_000)
        }
    }

    @Test("Driver: while a server without ranges repeats what is held, the progress says so")
    func repetition() async throws {
        try await DriverRig.with { rig in
            var resource = resource
            resource.ranges = .off
            rig.server.serve("/old", resource)
            try await rig.interrupt("/old", after: 5_000_000)
            // The driver asks twice: a server without ranges answers If-Range with the whole file.
            rig.server.always("/old", .stall(after: 2_000_000))
            let run = rig.start(try rig.request("/old"), id: "a")
            // On a busy machine the processor may be the bottleneck at first.
            await run.until { _ in
                let bottleneck = run.driver.progress()?.bottleneck
                return bottleneck?.cause == .repetition && bottleneck?.share ?? 0 > 0.39
            }
            #expect(run.driver.progress()?.completedBytes == 5_000_000)
            #expect(run.driver.picture()?.lacksRanges == true)
            run.driver.stop(.pause)
            #expect(await run.end().isStopped)
            rig.server.always("/old", .honest)
            #expect(await rig.run(try rig.request("/old"), id: "a").file != nil)
            #expect(rig.holds("old", resource))
        }
    }

    private func goesOnFromOld(_ rig: DriverRig, _ context: RunContext) async throws {
        let record = try rig.journal("f")
        #expect(record.urls == [try rig.server.downloadURL("/old").text])
        #expect(record.identity.etag == resource.etag)
        #expect(record.claimed == [[0, 5_000_000]])
        let end = await rig.run(try rig.request("/old"), context)
        #expect(end.resumedAt == 5_000_000)
        #expect(end.file?.proof == .strong)
        #expect(rig.holds("f", resource))
    }

    @Test("Driver: a new source whose samples match resumes the download")
    func same() async throws {
        try await begun { rig, context in
            var other = resource
            other.etag = "\"other\""
            rig.server.serve("/new", other)
            rig.server.remove("/old")
            rig.server.script("/new", [])
            let end = await rig.run(try rig.request("/new"), context)
            #expect(end.resumedAt == 5_000_000)
            #expect(end.file?.proof == .sampled)
            #expect(end.file?.path == rig.directory.file("f").string)
            #expect(rig.holds("f", resource))
            #expect(try rig.directory.names == ["f"])
        }
    }

    @Test("Driver: while samples are compared and nothing is fetched, the progress says so")
    func comparing() async throws {
        try await begun { rig, context in
            rig.server.serve("/new", resource)
            rig.server.always("/new", .stall(after: 100))
            let run = rig.start(try rig.request("/new"), context)
            await run.until { _ in run.driver.progress()?.bottleneck == Bottleneck(.comparison) }
            #expect(run.driver.progress()?.completedBytes == 5_000_000)
            rig.server.always("/new", .honest)
            run.driver.stop(.pause)
            #expect(await run.end().isStopped)
            let end = await rig.run(try rig.request("/new"), context)
            #expect(end.resumedAt == 5_000_000 && rig.holds("f", resource))
        }
    }

    @Test("Driver: a new source that has passed the samples is listed first in the journal")
    func isNamed() async throws {
        try await begun { rig, context in
            var other = resource
            other.etag = "\"other\""
            rig.server.serve("/new", other)
            let isRest = Behaviour.when({ $0["Range"]?.hasPrefix("bytes=5000000-") == true }, .stall(after: 1_000_000))
            rig.server.always("/new", isRest)
            let run = rig.start(try rig.request("/new") { $0.maxConnections = 1 }, context)
            await run.reach(6_000_000)
            run.driver.stop(.pause)
            _ = await run.end()
            let record = try rig.journal("f")
            #expect(record.urls == [try rig.server.downloadURL("/new").text, try rig.server.downloadURL("/old").text])
            #expect(record.identity.etag == "\"other\"")
            #expect(record.claimed == [[0, 6_000_000]])
            rig.server.always("/new", .honest)
            let end = await rig.run(try rig.request("/new"), context)
            #expect(end.resumedAt == 6_000_000)
            #expect(end.file?.proof == .sampled)
            #expect(rig.holds("f", resource))
        }
    }

    @Test("Driver: a new source with other bytes is a conflict, and the old source still resumes")
    func different() async throws {
        try await begun { rig, context in
            rig.server.serve("/new", Resource(size: 8_000_000, seed: 2))
            let end = await rig.run(try rig.request("/new"), context)
            #expect(end.error?.code == .conflict)
            try await goesOnFromOld(rig, context)
        }
    }

    @Test("Driver: a new source with another length is a conflict, and the old source still resumes")
    func otherLength() async throws {
        try await begun { rig, context in
            rig.server.serve("/new", Resource(size: 9_000_000))
            let end = await rig.run(try rig.request("/new"), context)
            #expect(end.error?.code == .conflict)
            try await goesOnFromOld(rig, context)
        }
    }

    @Test(
        "Driver: a new source that answers with an error keeps the held bytes for the old source",
        arguments: [404, 403, 401, 503])
    func dead(status: Int) async throws {
        try await begun { rig, context in
            rig.server.serve("/new", resource)
            rig.server.always("/new", .status(status))
            let end = await rig.run(try rig.request("/new"), context) { $0.maxRetries = 1 }
            #expect(end.error != nil)
            try await goesOnFromOld(rig, context)
        }
    }

    @Test("Driver: a pause before a new source has answered keeps the held bytes for the old source")
    func paused() async throws {
        try await begun { rig, context in
            rig.server.serve("/new", resource)
            let gate = Gate()
            rig.server.always("/new", .hold(gate))
            let run = rig.start(try rig.request("/new"), context)
            await gate.arrived()
            run.driver.stop(.pause)
            #expect(await run.end().isStopped)
            gate.open()
            try await goesOnFromOld(rig, context)
        }
    }

    @Test("Driver: a new source with a known checksum resumes, and the digest proves the file")
    func digest() async throws {
        try await begun { rig, context in
            rig.server.serve("/new", resource)
            let checksum = try Checksum(parsing: "sha256:" + resource.sha256)
            let end = await rig.run(try rig.request("/new") { $0.checksum = checksum }, context)
            #expect(end.resumedAt == 5_000_000)
            #expect(end.file?.proof == .digest)
        }
    }

    @Test("Driver: a new source that answers 404 resumes from the old source as its mirror")
    func oldAsMirror() async throws {
        try await begun { rig, context in
            rig.server.serve("/new", resource)
            rig.server.always("/new", .status(404))
            let old = try rig.server.downloadURL("/old")
            let end = await rig.run(try rig.request("/new") { $0.sources.append(old) }, context)
            #expect(end.file != nil)
            #expect(rig.holds("f", resource))
            #expect(end.resumedAt == 5_000_000)
        }
    }

    /// Waits are a thousand times as short.
    private struct FastClock: EngineClock {
        func now() -> Duration { SystemClock().now() * 1000 }
        func date() -> Date { Date() }
        func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration / 1000) }
    }

    /// A server that began a sample and fell silent held the download, its place and its permit for ever.
    @Test(
        "Driver: a sample that stops, one that drips, and a response without a type that stops have a deadline, and the download goes on",
        arguments: 0..<3)
    func slowSample(index: Int) async throws {
        let slow: [Behaviour] = [
            .stall(after: 100), .rate(200), .all(.ignoreRange, .field("Content-Type", nil), .stall(after: 3)),
        ]
        let resource = resource
        try await DriverRig.with(clock: FastClock()) { rig in
            rig.server.serve("/old", resource)
            let path = rig.directory.file("f").string
            try await rig.interrupt("/old", after: 5_000_000) { $0.destination = .file(path) }
            rig.server.serve("/new", resource)
            rig.server.script("/new", [slow[index]])
            let end = await rig.run(try rig.request("/new"), RunContext(partPath: path + ".part")) {
                $0.maxRetries = 1000
            }
            #expect(end.resumedAt == 5_000_000 && rig.holds("f", resource))
            #expect(rig.server.requests.count { $0.path == "/new" } > 2)
        }
    }
}
