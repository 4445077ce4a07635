import Ferry
import FerryCore
import FerryTesting
import Testing

@Suite(.timeLimit(.minutes(30))) struct ManualNetworkMonitorTests {
    @Test func `ManualNetworkMonitor: changes begin with the status, come once each, end with stop`() async {
        let network = ManualNetworkMonitor()
        await network.start()
        #expect(network.isStarted)
        var changes = network.changes().makeAsyncIterator()
        #expect(await changes.next()?.status == .online)
        network.set(metered: false)
        network.set(online: false)
        #expect(await changes.next()?.status == .offline)
        network.set(online: true, metered: true)
        let back = await changes.next()
        #expect(back?.status.kind == .metered)
        #expect(back?.generation == 1)
        network.movePath()
        #expect(await changes.next()?.generation == 2)
        await network.stop()
        #expect(await changes.next() == nil)
        #expect(!network.isStarted)
    }

    @Test func `ManualNetworkMonitor: a slow reader gets only the newest snapshot`() async {
        let network = ManualNetworkMonitor()
        var changes = network.changes().makeAsyncIterator()
        for _ in 0..<100 { network.movePath() }
        #expect(await changes.next()?.generation == 100)
    }

    @Test func `ManualNetworkMonitor: attached addresses and set local names are local while offline`() async {
        let network = ManualNetworkMonitor(.offline)
        network.attach("192.0.2.0/24")
        network.setLocalNames(["nas.lan"])
        #expect(await network.isLocal("192.0.2.9"))
        #expect(await network.isLocal("nas.lan"))
        #expect(await network.isLocal("localhost"))
        #expect(await !network.isLocal("198.51.100.1"))
        network.set(online: true)
        #expect(await !network.isLocal("nas.lan"), "names are asked for only while offline")
    }
}
