import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Delegate of a manager", .timeLimit(.minutes(30)))
struct DelegateTests {
    private static let resource = Resource(size: 3_000_000)

    @Test("Delegate: calls about one download are on the main actor, in order, and never overlap")
    func order() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            for path in ["/a", "/b", "/c"] {
                shop.server.serve(path, Self.resource)
                shop.server.script(path, [.hold(after: 1_000_000, gate)])
            }
            shop.server.always("/d", .status(451))
            let recorder = Recorder()
            let manager = shop.manager { $0.maxConcurrentDownloads = 10 }
            manager.setDelegate(recorder)
            let all = try await manager.download(
                ["/a", "/b", "/c", "/d"].map { try shop.request($0) { $0.maxConnections = 1 } })
            let (a, b, c, d) = (all[0], all[1], all[2], all[3])
            for download in [a, b, c] { await shop.reach(1_000_000, download) }
            await shop.beats(3, of: a)
            try await a.pause()
            try await b.cancel()
            try await a.resume()
            gate.open()
            _ = try await a.finished()
            _ = try await c.finished()
            await recorder.reach { entries in
                [a, b, c, d].allSatisfy { download in
                    entries.contains { $0.id == download.id && [.completed, .cancelled, .failed].contains($0.call) }
                }
            }
            #expect(recorder.milestones(of: a.id) == [.started, .paused, .resumed, .completed])
            #expect(recorder.milestones(of: b.id) == [.started, .cancelled])
            #expect(recorder.milestones(of: c.id) == [.started, .completed])
            #expect(recorder.calls(of: d.id) == [.failed])
            #expect(recorder.calls(of: a.id).contains(.progress))
            for download in all { #expect(recorder.isInOrder(download.id), "\(recorder.calls(of: download.id))") }
            #expect(recorder.overlaps == 0)
            #expect(recorder.strangers == 0)
            #expect(recorder.entries.count { $0.call == .allTold } == 1)
            await manager.shutdown()
        }
    }

    @Test("Delegate: no progress is reported before the start of a transfer", arguments: [false, true])
    func longWay(isResumed: Bool) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            let recorder = Recorder()
            let manager = shop.manager()
            let request = try shop.request("/a") { $0.maxConnections = 1 }
            let download = try await manager.download(request)
            if isResumed {
                try await download.pause()
                shop.server.script("/a", [.stall(after: 1_500_000)])
                try await download.resume()
                await shop.reach(1_500_000, download)
                try await download.pause()
            } else {
                try await download.pause()
            }
            manager.setDelegate(recorder)
            await recorder.reach(.allTold)
            let gate = Gate()
            shop.server.script("/a", [.hold(gate)])
            try await download.resume()
            await gate.arrived()
            await shop.beats(4, of: download)
            #expect(recorder.calls(of: download.id) == [])
            gate.open()
            _ = try await download.finished()
            await recorder.reach(.completed)
            #expect(recorder.milestones(of: download.id).last == .completed)
            #expect(recorder.isInOrder(download.id), "\(recorder.calls(of: download.id))")
            await manager.shutdown()
        }
    }

    @Test("Delegate: a file moved before its completion is reported has the new path")
    func moved() async throws {
        try await Workshop.run { shop in
            shop.serve(["/a"])
            let door = Door()
            let recorder = Recorder { if $0 == .started { await door.pass() } }
            let manager = shop.kept()
            manager.setDelegate(recorder)
            let download = try await manager.download(try shop.single("/a"))
            _ = try await download.finished()
            try await download.moveFiles(to: shop.path("else"))
            door.open()
            await recorder.reach(.completed)
            #expect(recorder.files.map(\.path) == [shop.path("else/a")])
            await manager.shutdown()
        }
    }

    @Test("Delegate: the manager releases it with its last other reference, and has no listener then")
    func goneAndForgotten() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Self.resource)
            let manager = shop.manager()
            let gone = Door()
            var recorder: Recorder? = Recorder(gone: gone)
            manager.setDelegate(recorder)
            await recorder?.reach(.allTold)
            #expect(manager.isHeard)
            recorder = nil
            await gone.pass()
            #expect(manager.delegate == nil)
            // The next event finds the delegate released, and the listener is removed.
            _ = try await manager.download(shop.request("/a")).finished()
            while manager.isHeard { await Task.yield() }
            await manager.shutdown()
        }
    }

    @Test("Delegate: a slow one gets the latest progress of each download instead of a backlog")
    func coalesced() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let paths = (0..<5).map { "/\($0)" }
            for path in paths {
                shop.server.serve(path, Self.resource)
                shop.server.always(path, .hold(after: 1_000_000, gate))
            }
            let door = Door()
            let recorder = Recorder { if $0 == .allTold { await door.pass() } }
            let manager = shop.manager { $0.maxConcurrentDownloads = 5 }
            manager.setDelegate(recorder)
            await recorder.reach(.allTold)
            let all = try await manager.download(paths.map { try shop.request($0) { $0.maxConnections = 1 } })
            for download in all { await shop.reach(1_000_000, download) }
            await shop.beats(6, of: all[0])
            door.open()
            await recorder.reach { entries in entries.count { $0.call == .progress } >= 5 }
            // Each download gets one progress call for many ticks.
            let backlog = recorder.entries.prefix { _ in true }
            let firsts = backlog.prefix(1 + 5 + 5).filter { $0.call == .progress }
            #expect(Set(firsts.map(\.id)).count == firsts.count, "\(backlog)")
            gate.open()
            for download in all { _ = try await download.finished() }
            await recorder.reach { entries in entries.count { $0.call == .completed } == 5 }
            await manager.shutdown()
        }
    }

    @Test("Progress: delegate calls and updates are bounded by the number of beats")
    func atMostBeats() async throws {
        try await Workshop.run { shop in
            var resource = Self.resource
            resource.size = 40_000_000
            shop.server.serve("/a", resource)
            shop.server.always("/a", .rate(40_000_000))
            let recorder = Recorder()
            let manager = shop.manager()
            manager.setDelegate(recorder)
            await recorder.reach(.allTold)
            let download = try await manager.download(shop.request("/a"))
            var updates = 0
            for await _ in download.updates { updates += 1 }
            await recorder.reach(.completed)
            let beats = try #require(manager.scheduler).heartbeat.beats
            #expect(recorder.calls(of: download.id).count { $0 == .progress } <= beats)
            // Besides the ticks there are the first value and one for each change of the state.
            #expect(updates <= beats + 5)
            await manager.shutdown()
        }
    }

    @Test("Delegate: an end is reported again until its handler has returned")
    func handled() async throws {
        try await Workshop.run { shop in
            let door = Door()
            shop.server.serve("/a", Self.resource)
            shop.server.serve("/b", Self.resource)
            let first = shop.lasting()
            let slow = Recorder { if $0 == .completed { await door.pass() } }
            first.setDelegate(slow)
            _ = try await first.download(shop.request("/a")).finished()
            _ = try await first.download(shop.request("/b")).finished()
            await slow.reach(.completed)
            #expect(slow.entries.count { $0.call == .completed } == 1)
            await first.shutdown()
            door.open()

            let second = shop.lasting()
            let quick = Recorder()
            second.setDelegate(quick)
            try await second.activate()
            await quick.reach(.allTold)
            #expect(quick.entries.map(\.call) == [.completed, .completed, .allTold])
            #expect(Set(quick.entries.map(\.id)).count == 3)
            await second.shutdown()

            let third = shop.lasting()
            let last = Recorder()
            third.setDelegate(last)
            try await third.activate()
            await last.reach(.allTold)
            #expect(last.entries.map(\.call) == [.allTold])
            await third.shutdown()
        }
    }

    @Test("Delegate: after replacement the new one gets the completion, and the old one does not")
    func replaced() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            shop.server.serve("/a", Self.resource)
            shop.server.always("/a", .hold(after: 1_000_000, gate))
            let manager = shop.manager()
            let (old, new) = (Recorder(), Recorder())
            manager.setDelegate(old)
            let download = try await manager.download(shop.request("/a") { $0.maxConnections = 1 })
            await old.reach(.progress)
            manager.setDelegate(new)
            // The new delegate gets further progress.
            await new.reach(.progress)
            let told = old.entries.count
            gate.open()
            _ = try await download.finished()
            await new.reach(.completed)
            #expect(old.entries.count <= told + 1)
            #expect(!old.entries.contains { $0.call == .completed })
            #expect(new.milestones(of: download.id) == [.completed])
            manager.setDelegate(nil)
            #expect(manager.delegate == nil)
            await manager.shutdown()
        }
    }
}
