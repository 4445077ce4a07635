import Dispatch
import FerryCore
import FerryTesting
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// Whole downloads on a file system that records its threads.
@Suite("The door to the file system", .timeLimit(.minutes(30)))
struct FileIOTests {
    /// Runs a body, and expects that all file calls in it came from file threads.
    private func onFileThreads(
        atLeast calls: Int = 5, _ configuration: OriginServer.Configuration = .init(),
        _ body: @Sendable (DriverRig) async throws -> Void
    ) async throws {
        // With event loops for small bodies, and without, on Swift's threads.
        for loops in [[], HTTPTransport.executors] {
            let log = ThreadLog()
            let disk = FaultyFileSystem(.none, enter: { log.note() })
            try await DriverRig.with(configuration, fileSystem: disk, loops: loops, body)
            #expect(Set(log.names.keys) == ["ferry-io"])
            #expect(log.names.values.reduce(0, +) >= calls)
        }
    }

    @Test("Download: segments, checkpoints, the digest and publishing call files on file threads")
    func segmented() async throws {
        try await onFileThreads(atLeast: 50) { rig in
            let resource = Resource(size: 40_000_000)
            rig.server.serve("/f", resource)
            let digest = ByteDigest.of(resource.bytes(0..<resource.size), .sha256)
            let checksum = try #require(Checksum(algorithm: .sha256, bytes: digest))
            let request = try rig.request("/f") {
                $0.maxConnections = 4
                $0.checksum = checksum
            }
            #expect(await rig.run(request).file?.proof == .digest)
        }
    }

    @Test("Download: a small file is looked for, published and announced on file threads", arguments: [true, false])
    func small(syncs: Bool) async throws {
        try await onFileThreads { rig in
            rig.server.serve("/f", Resource(size: 300_000))
            for observer in [nil, PublishObserver(rig.directory)] {
                let request = try rig.request("/f") { $0.syncsToDisk = syncs }
                let context = RunContext(ignoresFinished: true, observer: observer)
                #expect(await rig.run(request, context).file != nil)
            }
        }
    }

    @Test("Download: a small file moves to the disk on file threads when its connection breaks, and is written there")
    func spilled() async throws {
        try await onFileThreads { rig in
            let resource = Resource(size: 900_000)
            rig.server.serve("/f", resource)
            rig.server.script("/f", [.cut(after: 500_000)])
            let end = await rig.run(try rig.request("/f") { $0.maxConnections = 1 })
            #expect(end.retries == [1])
            #expect(rig.holds("f", resource))
        }
    }

    @Test("Download: a small file that moves to the disk while it is read goes on there, on file threads")
    func spilledWhileRead() async throws {
        try await onFileThreads { rig in
            let resource = Resource(size: 900_000)
            rig.server.serve("/f", resource)
            let gate = Gate()
            rig.server.script("/f", [.hold(after: 300_000, gate)])
            let run = rig.start(try rig.request("/f"))
            await run.reach(300_000)
            // A small file moves to disk after two seconds.
            await run.until { $0.transfer.part != nil }
            gate.open()
            #expect(await run.end().file != nil)
            #expect(rig.holds("f", resource))
        }
    }

    @Test("Download: without syncing, too, reading waits at 64 MiB that no journal claims, for a kill would lose them")
    func unclaimed() async throws {
        let journal = HeldJournal()
        let disk = FaultyFileSystem(
            .none, missing: [.unnamed],
            look: { operation, path in
                if operation == .write, path.string.contains(".part.ferry") { journal.write() }
                return nil
            })
        try await DriverRig.with(fileSystem: disk) { rig in
            let resource = Resource(size: 160 << 20)
            rig.server.serve("/f", resource)
            let run = rig.start(try rig.request("/f") { ($0.syncsToDisk, $0.maxConnections) = (false, 1) })
            await run.until { $0.transfer.mustWaitForCheckpoint || $0.transfer.facts.isComplete }
            #expect(!run.driver.transfer.facts.isComplete)
            journal.release()
            #expect(await run.end().file != nil)
        }
    }

    @Test("Download: resuming calls files on file threads, and so does backing up a file that has changed")
    func resumed() async throws {
        try await onFileThreads { rig in
            rig.server.serve("/f", Resource(size: 8_000_000))
            try await rig.interrupt("/f", after: 3_000_000)
            try await rig.interrupt("/f", after: 2_000_000, reaching: 5_000_000)
            let other = Resource(size: 9_000_000, seed: 2)
            rig.server.serve("/f", other)
            let end = await rig.run(try rig.request("/f"))
            #expect(end.events.contains { if case .restarted = $0 { true } else { false } })
            #expect(rig.holds("f", other))
        }
    }

    @Test("Download: a file of unknown length checks the free space on file threads")
    func unknownLength() async throws {
        try await onFileThreads { rig in
            let resource = Resource(size: 5_000_000)
            rig.server.serve("/f", resource)
            rig.server.always("/f", .chunked())
            let request = try rig.request("/f")
            #expect(await rig.run(request).file != nil)
            #expect(rig.holds("f", resource))
        }
    }

    @Test("Download: cancelling deletes on file threads")
    func cancelled() async throws {
        try await onFileThreads { rig in
            rig.server.serve("/f", Resource(size: 8_000_000))
            rig.server.script("/f", [.stall(after: 4_000_000)])
            let run = rig.start(try rig.request("/f") { $0.maxConnections = 1 })
            await run.reach(4_000_000)
            run.driver.stop(.cancel)
            if case .cancelled = await run.end().outcome {} else { Issue.record("not cancelled") }
            #expect(try rig.directory.names == [])
        }
    }

    @Test("Download: a task on the main actor that is cancelled keeps its files on file threads", arguments: [1, 4])
    @MainActor func mainActor(connections: Int) async throws {
        try await onFileThreads { rig in
            let resource = Resource(size: 40_000_000)
            rig.server.serve("/f", resource)
            rig.server.always("/f", .when({ $0["Range"] == nil }, .stall(after: 9_000_000)))
            let request = try rig.request("/f") { $0.maxConnections = connections }
            var settings = DriverSettings()
            settings.minFreeBytes = 0
            let driver = DownloadDriver(
                id: DownloadID(rawValue: "a"), request: request, environment: rig.environment, settings: settings
            ) { _ in }
            let task = Task { @MainActor in await driver.run() }
            while (driver.progress()?.completedBytes ?? 0) < 9_000_000 {
                let seen = driver.updates.count
                if (driver.progress()?.completedBytes ?? 0) < 9_000_000 { await driver.updates.wait(after: seen) }
            }
            task.cancel()
            if case .stopped = await task.value {} else { Issue.record("not stopped") }
            #expect(try rig.journal("f").claimed.isEmpty == false)
        }
    }
}

/// Holds all writes of a journal but the first, which makes it.
private final class HeldJournal: Sendable {
    private let isMade = Mutex(false)
    private let gate = DispatchSemaphore(value: 0)

    func write() {
        let isFirst = isMade.withLock { isMade in
            defer { isMade = true }
            return !isMade
        }
        guard !isFirst else { return }
        gate.wait()
        gate.signal()
    }

    func release() { gate.signal() }
}
