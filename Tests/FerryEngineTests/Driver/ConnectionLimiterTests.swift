import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Synchronization
import Testing

@testable import FerryEngine

@Suite("ConnectionLimiter", .timeLimit(.minutes(30)))
struct HostGateTests {
    private let host = Origin(scheme: .https, host: "h", port: 443)

    private final class Order: Sendable {
        let list = Mutex<[Int]>([])
    }

    /// Waits until so many tasks wait for a permit.
    private func line(_ count: Int, at gate: ConnectionLimiter) async {
        while gate.waiting(for: host) != count { await Task.yield() }
    }

    @Test("ConnectionLimiter: the limit holds for each origin with its own count")
    func limit() {
        let gate = ConnectionLimiter(limit: 2)
        let other = Origin(scheme: .http, host: "h", port: 443)
        #expect([gate.tryEnter(host), gate.tryEnter(host), gate.tryEnter(host)] == [true, true, false])
        #expect(gate.tryEnter(other))
        gate.leave(host)
        #expect([gate.tryEnter(host), gate.tryEnter(host)] == [true, false])
    }

    @Test("ConnectionLimiter: permits are granted in the order of the requests, and none overtakes")
    func order() async {
        let gate = ConnectionLimiter(limit: 1)
        #expect(gate.tryEnter(host))
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for number in 1...5 {
                group.addTask { [host] in
                    #expect(await gate.enter(host))
                    order.list.withLock { $0.append(number) }
                    #expect(gate.count(host) == 1)
                    gate.leave(host)
                }
                await line(number, at: gate)
            }
            #expect(!gate.tryEnter(host) && gate.isCrowded(host))
            gate.leave(host)
        }
        #expect(order.list.withLock { $0 } == [1, 2, 3, 4, 5])
        #expect(gate.count(host) == 0 && !gate.isCrowded(host))
    }

    @Test("ConnectionLimiter: a cancelled waiter gets no permit, and the next waiter does")
    func cancelled() async {
        let gate = ConnectionLimiter(limit: 1)
        #expect(gate.tryEnter(host))
        // owner: awaited below.
        let first = Task { [host] in await gate.enter(host) }
        await line(1, at: gate)
        // owner: awaited below.
        let second = Task { [host] in await gate.enter(host) }
        await line(2, at: gate)
        first.cancel()
        #expect(await first.value == false)
        gate.leave(host)
        #expect(await second.value == true)
        #expect(gate.count(host) == 1)
        second.cancel()
        gate.leave(host)
        #expect(gate.count(host) == 0)
    }

    @Test("ConnectionLimiter: a raised limit admits waiters at once; a lowered one applies as permits are returned")
    func changes() async {
        let gate = ConnectionLimiter(limit: 1)
        #expect(gate.tryEnter(host))
        // owner: awaited below.
        let waiting = Task { [host] in await gate.enter(host) }
        await line(1, at: gate)
        gate.set(limit: 3)
        #expect(await waiting.value)
        #expect(gate.tryEnter(host) && !gate.isCrowded(host))
        gate.set(limit: 0)
        #expect(gate.limit == 1 && gate.isCrowded(host))
        for _ in 0..<2 { gate.leave(host) }
        #expect(!gate.isCrowded(host) && !gate.tryEnter(host))
        gate.leave(host)
        #expect(gate.tryEnter(host))
    }

    @Test("ConnectionLimiter: permits are counted over all downloads, and every download completes")
    func downloads() async throws {
        try await DriverRig.with(connectionsPerHost: 2) { rig in
            let resource = Resource(size: 3_000_000)
            for number in 0..<8 { rig.server.serve("/\(number)", resource) }
            let runs = try (0..<8).map { rig.start(try rig.request("/\($0)"), id: "\($0)") }
            for run in runs { #expect(await run.end().file != nil) }
            #expect(rig.server.traffic.peakRequests <= 2)
            for number in 0..<8 { #expect(rig.holds("\(number)", resource)) }
            #expect(rig.environment.hosts.count(try rig.server.downloadURL("/").origin) == 0)
        }
    }

    /// At 20 KB/s a segment takes minutes.
    @Test(
        "Driver: a permit is returned when another download waits for its first",
        arguments: zip([4_000_000, 20_000], [3_000_000, 20_000]))
    func givesWay(rate: Int64, size: Int64) async throws {
        try await DriverRig.with(connectionsPerHost: 3) { rig in
            rig.server.serve("/long", Resource(size: 1_000_000_000))
            rig.server.serve("/short", Resource(size: size, seed: 2))
            rig.server.setConnectionRate(rate)
            let host = try rig.server.downloadURL("/").origin
            let long = rig.start(try rig.request("/long"), id: "long")
            await long.until { _ in rig.environment.hosts.count(host) == 3 }
            let short = await rig.run(try rig.request("/short"), id: "short")
            #expect(short.file != nil)
            #expect(short.retries == [])
            #expect(long.driver.progress()?.completedBytes ?? 0 < 1_000_000_000)
            long.driver.stop(.cancel)
            let end = await long.end()
            #expect(end.retries == [])
            #expect(rig.environment.hosts.count(host) == 0)
        }
    }

    @Test("Driver: a permit is awaited for the host that a redirect leads to")
    func redirected() async throws {
        try await DriverRig.with(connectionsPerHost: 1) { rig in
            rig.server.serve("/a", Resource(size: 3_000_000))
            rig.server.serve("/b", Resource(size: 2_000_000, seed: 2))
            rig.server.serve("/r", Resource(size: 1))
            rig.server.always("/r", .redirect(to: rig.server.url("/b", host: "localhost")))
            let gate = Gate()
            rig.server.script("/a", [.hold(after: 1_000_000, gate)])
            let near = try rig.server.downloadURL("/a", host: "localhost")
            let first = rig.start(
                DownloadRequest(sources: [near], destination: .directory(rig.directory.path.string)), id: "a")
            await first.reach(1_000_000)
            let second = rig.start(
                try rig.request("/r") { $0.destination = .file(rig.directory.file("b").string) }, id: "b")
            await second.until { _ in rig.environment.hosts.waiting(for: near.origin) == 1 }
            #expect(rig.environment.hosts.count(near.origin) == 1)
            gate.open()
            #expect(await first.end().file != nil)
            #expect(await second.end().file != nil)
            #expect(rig.holds("b", Resource(size: 2_000_000, seed: 2)))
            #expect(rig.environment.hosts.count(near.origin) == 0)
        }
    }

    @Test("Driver: a pause ends the wait for a connection permit")
    func paused() async throws {
        try await DriverRig.with(connectionsPerHost: 1) { rig in
            rig.server.serve("/a", Resource(size: 3_000_000))
            let host = try rig.server.downloadURL("/").origin
            #expect(rig.environment.hosts.tryEnter(host))
            let run = rig.start(try rig.request("/a"))
            await run.until { _ in rig.environment.hosts.waiting(for: host) == 1 }
            #expect(run.driver.progress()?.bottleneck == Bottleneck(.otherDownloads, connections: 1))
            run.driver.stop(.pause)
            #expect(await run.end().isStopped)
            #expect(rig.environment.hosts.waiting(for: host) == 0)
            rig.environment.hosts.leave(host)
            #expect(await rig.run(try rig.request("/a")).file != nil)
        }
    }
}

@Suite("ConnectionLimiter: budgets", .timeLimit(.minutes(30)))
struct ConnectionBudgetTests {
    private let a = Origin(scheme: .https, host: "a.example.com", port: 443)
    private let otherPort = Origin(scheme: .http, host: "a.example.com", port: 80)
    private let b = Origin(scheme: .https, host: "b.example.com", port: 443)

    @Test("ConnectionLimiter: a budget of a host name counts all ports, one of a domain all its names")
    func scopes() {
        let gate = ConnectionLimiter(limit: 16)
        gate.set(host: 2, domain: 3)
        #expect([gate.tryEnter(a), gate.tryEnter(otherPort), gate.tryEnter(a)] == [true, true, false])
        #expect([gate.tryEnter(b), gate.tryEnter(b)] == [true, false])
        gate.leave(otherPort)
        #expect(gate.tryEnter(b))
        gate.set(HostBudget(connections: 1), for: .host("b.example.com"))
        #expect(gate.isCrowded(b) && gate.isCrowded(a) == false)
    }

    @Test("ConnectionLimiter: a connection that leaves a domain admits one that waits for another name of it")
    func neighbours() async {
        let gate = ConnectionLimiter(limit: 16)
        gate.set(nil, for: .domain("example.org"))
        gate.set(HostBudget(connections: 1), for: .domain("example.com"))
        #expect(gate.tryEnter(a))
        // owner: awaited below.
        let waiter = Task { [b] in await gate.enter(b) }
        while gate.waiting(for: b) == 0 { await Task.yield() }
        #expect(gate.isCrowded(a))
        gate.leave(a)
        #expect(await waiter.value)
        #expect(gate.count(b) == 1 && gate.count(a) == 0)
    }

    @Test("ConnectionLimiter: a higher budget admits waiting connections at once")
    func raised() async {
        let gate = ConnectionLimiter(limit: 16)
        gate.set(HostBudget(connections: 1), for: .host("a.example.com"))
        #expect(gate.tryEnter(a))
        // owner: awaited below.
        let waiter = Task { [a] in await gate.enter(a) }
        while gate.waiting(for: a) == 0 { await Task.yield() }
        gate.set(nil, for: .host("a.example.com"))
        #expect(await waiter.value)
    }
}
