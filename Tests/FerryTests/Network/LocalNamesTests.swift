import Dispatch
import FerryCore
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite(.timeLimit(.minutes(30))) struct LocalNamesTests {
    static let offline: NetworkSnapshot = {
        var snapshot = NetworkSnapshotTests.snapshot
        snapshot.status.isOnline = false
        return snapshot
    }()
    private static let near = NameMemory.Answer.addresses(["8.8.8.8", "192.0.2.9"].compactMap { IPAddress($0) })
    private static let far = NameMemory.Answer.addresses(["8.8.8.8"].compactMap { IPAddress($0) })

    @Test func `LocalNames: a name is local when one of its addresses is, and is resolved once`() async {
        let asked = Mutex<[String]>([])
        let names = LocalNames { name in
            asked.withLock { $0.append(name) }
            return name == "nas.lan" ? Self.near : Self.far
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await names.isLocal("nas.lan", in: Self.offline) } }
            for await isLocal in group { #expect(isLocal) }
        }
        #expect(await names.isLocal("nas.lan", in: Self.offline))
        #expect(await !names.isLocal("gone.lan", in: Self.offline))
        #expect(asked.withLock { $0 } == ["nas.lan", "gone.lan"])
    }

    @Test func `LocalNames: a name is resolved again in another network`() async {
        let asked = Mutex(0)
        let names = LocalNames { _ in
            asked.withLock { $0 += 1 }
            return Self.far
        }
        var moved = Self.offline
        moved.generation += 1
        #expect(await !names.isLocal("nas.lan", in: Self.offline))
        #expect(await !names.isLocal("nas.lan", in: moved))
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func `LocalNames: a cancelled caller does not wait for the resolver, and its name is not resolved`() async {
        let asked = Mutex<[String]>([])
        let isBusy = DispatchSemaphore(value: 0)
        let began = AsyncEvent()
        let names = LocalNames { name in
            asked.withLock { $0.append(name) }
            began.notify()
            isBusy.wait()
            return Self.far
        }
        // As many lookups as run at a time, and one that waits for these.
        let busy = ["a.lan", "b.lan", "c.lan", "d.lan"].map { name in
            Task { await names.isLocal(name, in: Self.offline) }
        }
        await began.wait(after: 3)
        let last = Task { await names.isLocal("e.lan", in: Self.offline) }
        for task in busy + [last] { task.cancel() }
        for task in busy + [last] { #expect(await !task.value) }
        for _ in busy { isBusy.signal() }
        // The next name is resolved after all before it.
        let answer = Task { await names.isLocal("f.lan", in: Self.offline) }
        isBusy.signal()
        #expect(await !answer.value)
        #expect(!asked.withLock { $0.contains("e.lan") })
    }

    @Test func `LocalNames: an answer for an earlier network does not count for the next`() async {
        let (began, isBusy) = (Door(), DispatchSemaphore(value: 0))
        let count = Mutex(0)
        let names = LocalNames { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return Self.near }
            began.open()
            isBusy.wait()
            return Self.far
        }
        let old = Task { await names.isLocal("nas.lan", in: Self.offline) }
        await began.pass()
        var moved = Self.offline
        moved.generation += 1
        #expect(await names.isLocal("nas.lan", in: moved))
        isBusy.signal()
        #expect(await !old.value)
        #expect(await names.isLocal("nas.lan", in: moved))
    }

    @Test(arguments: [NameMemory.Answer.missing, .failed])
    func `LocalNames: a name without an address counts as local where there is a network, so that its download ends`(
        answer: NameMemory.Answer
    ) async {
        let names = LocalNames { _ in answer }
        #expect(await names.isLocal("gone.lan", in: Self.offline))
        // What is left of a laptop without a network: loopback, a bridge of containers, an address of the link alone, a tunnel.
        var alone = Self.offline
        alone.interfaces = [
            NetworkInterface(name: "lo", isLoopback: true, addresses: ["127.0.0.1"].compactMap { NetworkAddress($0) }),
            NetworkInterface(
                name: "docker0", isBridge: true, addresses: ["172.17.0.1"].compactMap { NetworkAddress($0) }),
            NetworkInterface(name: "eth0", addresses: ["169.254.7.7", "fe80::1"].compactMap { NetworkAddress($0) }),
            NetworkInterface(name: "wlan0", isUp: false, addresses: ["192.0.2.2"].compactMap { NetworkAddress($0) }),
            NetworkInterface(
                name: "tun0", isPointToPoint: true, isTunnel: true,
                addresses: ["10.8.0.2"].compactMap { NetworkAddress($0) }),
        ]
        #expect(await !names.isLocal("gone.lan", in: alone))
    }

    @Test func `LocalNames: the system's resolver answers, and localhost is local without a network`() async {
        let names = LocalNames()
        let alone = NetworkSnapshot(status: Self.offline.status)
        #expect(await names.isLocal("localhost", in: alone))
        #expect(await !names.isLocal("no-such-host.invalid", in: alone))
    }
}
