import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("RunContext", .timeLimit(.minutes(30)))
struct RunContextTests {
    @Test("Driver: two downloads of one URL each resume their own part file")
    func ownPair() async throws {
        try await DriverRig.with { rig in
            let resource = Resource(size: 5_000_000)
            rig.server.serve("/f", resource)
            let others = RunContext(belongsToAnother: { $0 == "a" })
            try await rig.interrupt("/f", after: 3_000_000)
            try await rig.interrupt("/f", after: 2_000_000, id: "b", others)
            #expect(try rig.directory.names == ["f (1).part", "f (1).part.ferry", "f.part", "f.part.ferry"])
            var context = others
            context.partPath = rig.directory.file("f (1).part").string
            let end = await rig.run(try rig.request("/f"), id: "b", context)
            #expect(end.resumedAt == 2_000_000)
            #expect(end.file?.path == rig.directory.file("f (1)").string)
            #expect(rig.holds("f (1)", resource))
            #expect(try rig.journal("f").id == "a")
        }
    }

    @Test("Driver: a part path whose journal has another id is not resumed", arguments: [true, false])
    func foreignPartPath(isListed: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 5_000_000))
            rig.server.serve("/g", Resource(size: 4_000_000, seed: 2))
            try await rig.interrupt("/f", after: 3_000_000)
            let context = RunContext(
                partPath: rig.directory.file("f.part").string, belongsToAnother: { _ in isListed })
            let end = await rig.run(try rig.request("/g"), id: "b", context)
            #expect(end.resumedAt == nil)
            #expect(rig.holds("g", Resource(size: 4_000_000, seed: 2)))
            #expect(try rig.journal("f").claimed == [[0, 3_000_000]])
        }
    }

    @Test(
        "Driver: another download's part file stays, and the conflict rule decides about the name",
        arguments: [ConflictRule.rename, .fail, .skip, .overwrite])
    func anothersFile(rule: ConflictRule) async throws {
        try await DriverRig.with { rig in
            let resource = Resource(size: 5_000_000)
            rig.server.serve("/f", resource)
            let path = rig.directory.file("x").string
            try await rig.interrupt("/f", after: 3_000_000) { $0.destination = .file(path) }
            let context = RunContext(belongsToAnother: { $0 == "a" })
            let end = await rig.run(
                try rig.request("/f") { ($0.destination, $0.onConflict) = (.file(path), rule) }, id: "b", context)
            #expect(end.resumedAt == nil)
            #expect(try rig.journal("x").claimed == [[0, 3_000_000]])
            if rule == .rename {
                #expect(rig.holds("x (1)", resource))
            } else {
                #expect(end.error?.code == .conflict)
            }
        }
    }

    @Test("Driver: another run is said to resume only what it can prove")
    func anotherRun() async throws {
        try await DriverRig.with { rig in
            let cases: [(String, Resource, ErrorPhrase.Key)] = [
                ("/strong", Resource(size: 5_000_000), .runAgain),
                ("/none", Resource(size: 5_000_000, etag: nil, lastModified: nil), .runAnew),
            ]
            for (path, resource, suggestion) in cases {
                rig.server.serve(path, resource)
                rig.server.always(path, .cut(after: 3_000_000))
                let request = try rig.request(path) { $0.maxConnections = 1 }
                let error = await rig.run(request, id: String(path.dropFirst())) { $0.maxRetries = 0 }.error
                #expect(error?.suggestionPhrase?.key == suggestion, "\(String(describing: error))")
            }
        }
    }

    @Test("Driver: a part path that belongs to another download is refused with a conflict")
    func anothersPart() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 5_000_000))
            try await rig.interrupt("/f", after: 3_000_000)
            let request = DownloadRequest(sources: [], destination: .part(rig.directory.file("f.part").string))
            let context = RunContext(belongsToAnother: { $0 == "a" })
            #expect(await rig.run(request, id: "b", context).error?.code == .conflict)
            #expect(await rig.run(request, id: "b").resumedAt == 3_000_000)
        }
    }

    @Test("Driver: attempts are counted across runs, and progress resets the count")
    func retries() async throws {
        // No back-off ends without a wake-up: each run has one attempt.
        try await DriverRig.with(clock: FrozenClock()) { rig in
            rig.server.serve("/f", Resource(size: 5_000_000))
            rig.server.always("/f", .status(503))
            var memory: RetryMemory?
            for attempt in 1...2 {
                let run = rig.start(try rig.request("/f"), RunContext(retries: memory)) { $0.maxRetries = 2 }
                await run.said { if case .waiting(.retry) = $0 { true } else { false } }
                run.driver.stop(.pause)
                let end = await run.end()
                #expect(end.retries.first == attempt)
                memory = run.driver.retries
            }
            #expect(memory?.attempts == 2)
            let last = await rig.run(try rig.request("/f"), RunContext(retries: memory)) { $0.maxRetries = 2 }
            #expect(last.error?.code == .refused)
            #expect(last.retries == [])
            rig.server.always("/f", .honest)
            let run = rig.start(try rig.request("/f"), RunContext(retries: memory)) { $0.maxRetries = 2 }
            #expect(await run.end().file != nil)
            #expect(run.driver.retries.attempts == 0)
        }
    }

    @Test("Driver: a body that starts from zero in each run does not reset the attempts")
    func noProgress() async throws {
        // No back-off ends without a wake-up: each run has one attempt.
        try await DriverRig.with(clock: FrozenClock()) { rig in
            rig.server.serve("/f", Resource(size: 5_000_000, etag: nil, lastModified: nil, ranges: .off))
            rig.server.always("/f", .stall(after: 3_000_000))
            var memory: RetryMemory?
            var runs = 0
            while runs < 10 {
                runs += 1
                let run = rig.start(try rig.request("/f"), RunContext(retries: memory)) { $0.maxRetries = 3 }
                // Cut once all bytes of this run have arrived: the bytes lost by an earlier close differ from run to run,
                // and the progress is that of the run before until the response restarts it.
                await run.until { $0.transfer.facts.receivedBytes >= 3_000_000 }
                await rig.server.dropConnections()
                let isRetrying = await run.untilRetrying()
                if isRetrying { run.driver.stop(.pause) }
                let end = await run.end()
                if end.error != nil { break }
                memory = run.driver.retries
            }
            #expect(runs == 4)
        }
    }

    @Test("Driver: the journal holds the tags of the download and changes with them")
    func tags() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 5_000_000))
            let first = JournalTags(session: "s", position: 7, priority: 1, label: "L", userInfo: ["k": "v"])
            try await rig.interrupt("/f", after: 2_000_000, RunContext(tags: first))
            var record = try rig.journal("f")
            #expect((record.session, record.position, record.priority, record.label) == ("s", 7, 1, "L"))
            #expect(record.userInfo == ["k": "v"])
            // A run without tags keeps them.
            try await rig.interrupt("/f", after: 1_000_000, reaching: 3_000_000)
            #expect(try rig.journal("f").label == "L")
            rig.server.script("/f", [.stall(after: 500_000)])
            let run = rig.start(try rig.request("/f") { $0.maxConnections = 1 }, RunContext(tags: first))
            await run.reach(3_500_000)
            run.driver.set(tags: JournalTags(session: "s", position: -1))
            run.driver.stop(.pause)
            _ = await run.end()
            record = try rig.journal("f")
            #expect((record.session, record.position, record.priority, record.label) == ("s", -1, nil, nil))
            #expect(record.userInfo == nil)
            #expect(record.claimed == [[0, 3_500_000]])
        }
    }

    @Test(
        "Driver: a finished file counts as complete, unless the run ignores finished files",
        arguments: [300_000, 3_000_000])
    func restart(size: Int64) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: size))
            #expect(await rig.run(try rig.request("/f")).file?.wasAlreadyComplete == false)
            #expect(await rig.run(try rig.request("/f")).file?.wasAlreadyComplete == true)
            let again = await rig.run(try rig.request("/f"), RunContext(ignoresFinished: true))
            #expect(again.file?.wasAlreadyComplete == false)
            #expect(try rig.directory.names == ["f", "f (1)"])
            let over = await rig.run(
                try rig.request("/f") { $0.onConflict = .overwrite }, RunContext(ignoresFinished: true))
            #expect(over.file?.path == rig.directory.file("f").string)
            #expect(over.file?.wasAlreadyComplete == false)
        }
    }

    @Test(
        "Driver: a file to replace stays until the new one is complete, and for good if it was changed",
        arguments: [300_000, 3_000_000], [false, true])
    func replaced(size: Int64, isChanged: Bool) async throws {
        try await DriverRig.with { rig in
            let (old, new) = (Resource(size: size), Resource(size: size, seed: 2))
            rig.server.serve("/f", old)
            let first = await rig.run(try rig.request("/f"))
            var context = RunContext(ignoresFinished: true)
            context.replaces = try PublishedFile.read(
                try #require(first.file).path, fileSystem: LocalFileSystem())
            rig.server.serve("/f", new)
            let gate = Gate()
            rig.server.script("/f", [.hold(after: size / 2, gate)])
            let run = rig.start(try rig.request("/f") { $0.maxConnections = 1 }, context)
            await run.reach(size / 2)
            #expect(rig.holds("f", old))
            if isChanged { try rig.directory.put("f", [1]) }
            gate.open()
            let name = isChanged ? "f (1)" : "f"
            #expect(await run.end().file?.path == rig.directory.file(name).string)
            #expect(rig.holds(name, new))
            #expect(try rig.directory.names == (isChanged ? ["f", "f (1)"] : ["f"]))
            if isChanged { #expect(rig.directory.bytes("f") == [1]) }
        }
    }

    @Test("Driver: an exact name is used whatever Content-Disposition says", arguments: [300_000, 3_000_000])
    func exactName(size: Int64) async throws {
        try await DriverRig.with { rig in
            let resource = Resource(size: size, contentDisposition: "attachment; filename=\"other.bin\"")
            rig.server.serve("/f", resource)
            let destination = DownloadRequest.Destination.directory(
                rig.directory.path.string, name: .exact("my file.bin"))
            let end = await rig.run(try rig.request("/f") { $0.destination = destination })
            #expect(end.file?.path == rig.directory.file("my file.bin").string)
            #expect(rig.holds("my file.bin", resource))
            let again = await rig.run(
                try rig.request("/f") { $0.destination = destination }, RunContext(ignoresFinished: true))
            #expect(again.file?.path == rig.directory.file("my file (1).bin").string)
        }
    }

    @Test("Driver: an interrupted download under an exact name is resumed")
    func exactNameResumed() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 5_000_000))
            let destination = DownloadRequest.Destination.directory(rig.directory.path.string, name: .exact("e"))
            try await rig.interrupt("/f", after: 3_000_000) { $0.destination = destination }
            #expect(try rig.directory.names == ["e.part", "e.part.ferry"])
            #expect(await rig.run(try rig.request("/f") { $0.destination = destination }).resumedAt == 3_000_000)
        }
    }

    @Test("Driver: an exact name that cannot be used is refused before any request")
    func badName() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 5_000))
            let request = try rig.request("/f") {
                $0.destination = .directory(rig.directory.path.string, name: .exact("../x"))
            }
            #expect(await rig.run(request).error?.code == .invalidRequest)
            #expect(throws: DownloadError.self) {
                try PartFiles.checkWritable(request.destination, fileSystem: LocalFileSystem())
            }
            #expect(rig.server.requests.isEmpty)
        }
    }
}
