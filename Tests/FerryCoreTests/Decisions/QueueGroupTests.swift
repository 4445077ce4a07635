import Testing

@testable import FerryCore

@Suite("Groups in the queue")
struct QueueGroupTests {
    private func id(_ text: String) -> DownloadID { DownloadID(rawValue: text) }

    private func ids(_ decision: QueuePolicy.Decision) -> [String] { decision.start.map(\.rawValue) }

    @Test("QueuePolicy: a group at its limit waits, and other groups take the slots")
    func limit() {
        var policy = QueuePolicy(limit: 3)
        policy.set(limit: 1, ofGroup: 1)
        for name in ["a1", "a2", "a3"] { policy.join(id(name), group: 1) }
        for name in ["b1", "b2"] { policy.join(id(name), group: 2) }
        #expect(ids(policy.decide(at: .zero)) == ["a1", "b1", "b2"])
        policy.ended(id("b1"))
        #expect(ids(policy.decide(at: .zero)) == [])
        policy.ended(id("a1"))
        #expect(ids(policy.decide(at: .zero)) == ["a2"])
    }

    @Test("QueuePolicy: a group reports no more downloads held by the network than it may run")
    func passedOver() {
        var policy = QueuePolicy(limit: 3, network: .offline)
        policy.set(limit: 1, ofGroup: 1)
        for name in ["a1", "a2"] { policy.join(id(name), group: 1) }
        for name in ["b1", "b2", "b3"] { policy.join(id(name), group: 2) }
        #expect(policy.passedOver().map(\.rawValue) == ["a1", "b1", "b2"])
    }

    @Test("QueuePolicy: a lower group limit stops the last of that group, and a higher one starts them again")
    func changed() {
        var policy = QueuePolicy(limit: 9)
        for name in ["a1", "a2", "a3"] { policy.join(id(name), group: 1) }
        policy.join(id("b1"))
        _ = policy.decide(at: .zero)
        policy.set(limit: 1, ofGroup: 1)
        let decision = policy.decide(at: .zero)
        #expect(decision.stop == [.init(id("a2"), .slot), .init(id("a3"), .slot)])
        #expect(decision.start == [])
        // They keep their slots until they have stopped, and get no second stop.
        #expect(policy.decide(at: .zero) == QueuePolicy.Decision())
        policy.stopped(id("a2"))
        policy.stopped(id("a3"))
        #expect(ids(policy.decide(at: .zero)) == [])
        policy.set(limit: nil, ofGroup: 1)
        #expect(ids(policy.decide(at: .zero)) == ["a2", "a3"])
    }

    @Test("QueuePolicy: the limit of the queue bounds the limit of a group")
    func underAll() {
        var policy = QueuePolicy(limit: 1)
        policy.set(limit: 5, ofGroup: 1)
        for name in ["a1", "a2"] { policy.join(id(name), group: 1) }
        #expect(ids(policy.decide(at: .zero)) == ["a1"])
    }

    @Test("QueuePolicy: a group with limit 0 waits until the limit is raised")
    func zero() {
        var policy = QueuePolicy(limit: 2)
        policy.set(limit: 0, ofGroup: 1)
        policy.join(id("a1"), group: 1)
        #expect(ids(policy.decide(at: .zero)) == [])
        let hasReady = policy.hasReady
        #expect(!hasReady)
        policy.set(limit: 1, ofGroup: 1)
        #expect(ids(policy.decide(at: .zero)) == ["a1"])
    }

    @Test("QueuePolicy: changed network needs keep a download in its group")
    func lanes() {
        var policy = QueuePolicy(limit: 2, network: NetworkStatus(isOnline: true, isMetered: true))
        policy.join(id("a1"), needs: NetworkNeeds(allowsMetered: false), group: 3)
        #expect(ids(policy.decide(at: .zero)) == [])
        policy.setNeeds(NetworkNeeds(), of: id("a1"))
        #expect(ids(policy.decide(at: .zero)) == ["a1"])
        #expect(policy.group(of: id("a1")) == 3)
    }
}
