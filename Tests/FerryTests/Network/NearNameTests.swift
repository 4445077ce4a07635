import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

/// A network whose resolver does not respond before `door` is open.
private final class SlowNamesMonitor: NetworkMonitor {
    let network: ManualNetworkMonitor
    /// Opened by the first lookup.
    let asked = Door()
    /// Lookups return once this is open.
    let door = Door()

    init(_ network: ManualNetworkMonitor) { self.network = network }

    var current: NetworkSnapshot { network.current }
    func changes() -> AsyncStream<NetworkSnapshot> { network.changes() }
    func set(_ settings: NetworkSettings) { network.set(settings) }
    func start() async { await network.start() }
    func stop() async { await network.stop() }

    func isLocal(_ host: String) async -> Bool {
        asked.open()
        await door.pass()
        return Task.isCancelled ? false : await network.isLocal(host)
    }
}

/// The machine's clock, with a doubt limit that ends when a test opens `isOver`.
private struct DoubtClock: EngineClock {
    let system = SystemClock()
    let isOver = Door()

    func now() -> Duration { system.now() }
    func date() -> Date { system.date() }

    func sleep(for duration: Duration) async throws {
        guard duration == Scheduler.doubtLimit else { return try await system.sleep(for: duration) }
        await isOver.pass()
        try Task.checkCancellation()
    }
}

@Suite("Local hosts given by name", .timeLimit(.minutes(30)))
struct NearNameTests {
    @Test("Local hosts: a resolver that does not answer delays no waiting, resuming, adding or shutdown")
    func noAnswer() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            shop.serve(["/b", "/c"])
            let network = ManualNetworkMonitor()
            let slow = SlowNamesMonitor(network)
            let manager = shop.kept(engine: .far(), monitor: slow) { $0.maxConcurrentDownloads = 1 }
            let all = try await manager.download(["/a", "/b"].map { try shop.far($0) })
            await shop.reach(1_000_000, all[0])
            network.set(online: false)
            for download in all { await shop.reach(download) { $0 == .waiting(.network) } }
            #expect(all[0].status.state == .waiting(.network))
            let added = try await manager.download(try shop.far("/c"))
            #expect(added.status.state == .waiting(.network))
            network.set(online: true)
            try await shop.expectAll(all + [added], are: resource)
            // The resolver has not responded yet.
            network.set(online: false)
            let last = try await manager.download(try shop.far("/d", host: "other.example"))
            #expect(last.status.state == .waiting(.network))
            await manager.shutdown()
        }
    }

    @Test("Local hosts: a running download is not stopped when its name is found local in time")
    func inTime() async throws {
        try await Workshop.run { shop in
            let gate = Gate()
            let resource = shop.serve(["/a"], [.hold(after: 1_000_000, gate)])
            let network = ManualNetworkMonitor()
            network.setLocalNames(["files.example"])
            let slow = SlowNamesMonitor(network)
            let manager = shop.kept(engine: .far(clock: DoubtClock()), monitor: slow)
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            network.set(online: false)
            await slow.asked.pass()
            slow.door.open()
            gate.open()
            try await shop.expectAll([download], are: resource)
            #expect(shop.asked == ["/a"])
            await manager.shutdown()
        }
    }

    @Test("Local hosts: a download that was stopped resumes when its name is found local later")
    func late() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor()
            network.setLocalNames(["files.example"])
            let slow = SlowNamesMonitor(network)
            let clock = DoubtClock()
            let manager = shop.kept(engine: .far(clock: clock), monitor: slow)
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            network.set(online: false)
            await slow.asked.pass()
            #expect(download.status.state == .downloading)
            clock.isOver.open()
            await shop.reach(download) { $0 == .waiting(.network) }
            slow.door.open()
            try await shop.expectAll([download], are: resource)
            #expect(shop.asked == ["/a", "/a"])
            await manager.shutdown()
        }
    }

    @Test("Local hosts: a name found local while offline is under the network rules again once online")
    func outsideAgain() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"], [.stall(after: 1_000_000)])
            let network = ManualNetworkMonitor(.offline)
            network.setLocalNames(["files.example"])
            let manager = shop.kept(engine: .far(), monitor: network) { $0.allowsMeteredNetwork = false }
            let download = try await manager.download(try shop.far("/a"))
            await shop.reach(1_000_000, download)
            network.set(online: true, metered: true)
            await shop.reach(download) { $0 == .waiting(.network) }
            #expect(shop.asked == ["/a"])
            network.set(metered: false)
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Local hosts: a download that waited when the network went is looked up too")
    func waited() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let network = ManualNetworkMonitor(NetworkStatus(isOnline: true, isMetered: true))
            network.setLocalNames(["files.example"])
            let manager = shop.kept(engine: .far(), monitor: network) { $0.allowsMeteredNetwork = false }
            let download = try await manager.download(try shop.far("/a"))
            #expect(download.status.state == .waiting(.network))
            network.set(online: false)
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Local hosts: a download is looked up after a relaunch without a network")
    func relaunched() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a"])
            let manager = shop.kept(engine: .far(), monitor: ManualNetworkMonitor(.offline))
            let id = try await manager.download(try shop.far("/a")).id
            await manager.shutdown()
            let network = ManualNetworkMonitor(.offline)
            network.setLocalNames(["files.example"])
            let again = shop.kept(engine: .far(), monitor: network)
            let found = try #require(try await again.download(id: id))
            try await shop.expectAll([found], are: resource)
            await again.shutdown()
        }
    }
}

@Suite("Hosts of queued downloads")
struct QueuedHostsTests {
    private let online = NetworkSnapshot(status: .online)
    private let offline = NetworkSnapshot(status: .offline)

    @Test("QueuedHosts: while offline each name is looked up once, those of hastened downloads first")
    func asked() {
        var hosts = QueuedHosts()
        let one = hosts.enter("one.example", in: online)
        #expect(hosts.enter("one.example", in: online) == one)
        let two = hosts.enter("two.example", in: online)
        #expect(hosts.nextUnasked() == nil)
        #expect(hosts.judge(by: offline) == [])
        hosts.hasten([one])
        #expect(hosts.nextUnasked() == "one.example")
        #expect(hosts.nextUnasked() == "two.example")
        #expect(hosts.nextUnasked() == nil)
        #expect(hosts.number(of: "one.example") == one)
        let isNews = hosts.settle(one, isNear: true)
        let isNewsAgain = hosts.settle(one, isNear: true)
        #expect(isNews && !isNewsAgain)
        #expect(hosts.isNear(one))
        #expect(!hosts.isNear(two) && hosts.isUnsure(two))
    }

    @Test("QueuedHosts: a local name stays local while offline until its next lookup, and not while online")
    func kept() {
        var hosts = QueuedHosts()
        let nas = hosts.enter("nas.example", in: offline)
        #expect(hosts.nextUnasked() == "nas.example")
        let isNews = hosts.settle(nas, isNear: true)
        #expect(isNews)
        // Also after a time without a download of that host.
        hosts.leave(nas)
        #expect(hosts.enter("nas.example", in: offline) == nas)
        #expect(hosts.isNear(nas))
        #expect(hosts.judge(by: offline) == [])
        #expect(hosts.isNear(nas))
        #expect(hosts.nextUnasked() == "nas.example")
        #expect(hosts.judge(by: online) == [nas])
        #expect(!hosts.isNear(nas))
        #expect(hosts.nextUnasked() == nil)
    }

    @Test("QueuedHosts: addresses are judged by the network alone, and hosts without downloads are forgotten")
    func addresses() {
        var hosts = QueuedHosts()
        let near = hosts.enter("127.0.0.1", in: offline)
        let far = hosts.enter("198.51.100.1", in: offline)
        hosts.leave(hosts.enter("gone.example", in: offline))
        #expect(hosts.nextUnasked() == nil)
        #expect(hosts.isNear(near) && !hosts.isNear(far) && !hosts.isUnsure(far))
        hosts.leave(near)
        #expect(hosts.number(of: "127.0.0.1") == nil && !hosts.isNear(near))
        #expect(hosts.enter(nil, in: offline) == QueuedHosts.none)
    }
}
