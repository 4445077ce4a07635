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

    @Test func `LocalNames: a name is local when one of its addresses is, and is resolved once`() async {
        let asked = Mutex<[String]>([])
        let names = LocalNames { name in
            asked.withLock { $0.append(name) }
            return name == "nas.lan" ? ["8.8.8.8", "192.0.2.9"].compactMap { NetworkAddress($0) } : []
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
            return []
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
            return []
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
            guard isFirst else { return ["192.0.2.9"].compactMap { NetworkAddress($0) } }
            began.open()
            isBusy.wait()
            return []
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

    @Test func `LocalNames: the system's resolver finds loopback for localhost, and nothing for an unknown name`() {
        let own = LocalNames.system("localhost")
        let areLoopback = own.map(\.isLoopback)
        #expect(areLoopback.contains(true))
        let none = LocalNames.system("no-such-host.invalid")
        #expect(none == [])
    }
}
