import Synchronization
import Testing

@testable import Ferry

@Suite(.timeLimit(.minutes(30))) struct LocalNamesTests {
    static let offline: NetworkSnapshot = {
        var snapshot = NetworkSnapshotTests.snapshot
        snapshot.status.isOnline = false
        return snapshot
    }()

    @Test func `a name is local when one of its addresses is, and is asked for once`() async {
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

    @Test func `another network asks anew`() async {
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

    @Test func `the system's resolver knows this machine`() {
        let own = LocalNames.system("localhost")
        let areLoopback = own.map(\.isLoopback)
        #expect(areLoopback.contains(true))
        let none = LocalNames.system("no-such-host.invalid")
        #expect(none == [])
    }
}
