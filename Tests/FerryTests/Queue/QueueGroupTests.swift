import FerryCore
import Testing

@testable import Ferry

@Suite("Groups in the queue")
struct QueueGroupTests {
    private func id(_ text: String) -> DownloadID { DownloadID(rawValue: text) }

    private func ids(_ decision: QueueMachine.Decision) -> [String] { decision.start.map(\.rawValue) }

    @Test("QueueMachine: a session with slots of its own takes none of the list, and waits for none")
    func ownSlots() {
        var policy = QueueMachine(limit: 1)
        var settings = SessionSettings()
        settings.hasOwnSlots = true
        policy.set(settings, of: "own")
        for name in ["a1", "a2"] { policy.join(id(name)) }
        for name in ["o1", "o2"] { policy.join(id(name), session: "own") }
        #expect(Set(policy.decide(at: .zero).start) == [id("a1"), id("o1"), id("o2")])
        #expect(policy.decide(at: .zero).stop.isEmpty)
        // a2 waits for the slot of a1, not for those of the session.
        let contested = policy.contestedRuns()
        #expect(contested.count == 1 && contested.first === policy.run(of: id("a1")))
        policy.ended(id("o1"))
        #expect(policy.decide(at: .zero).start.isEmpty)
        policy.ended(id("a1"))
        #expect(policy.decide(at: .zero).start == [id("a2")])
        policy.set(limit: 0)
        #expect(policy.decide(at: .zero).stop == [QueueMachine.Stop(id("a2"), .slot)])
        // Without its own slots the session waits like others.
        policy.set(SessionSettings(), of: "own")
        #expect(policy.decide(at: .zero).stop == [QueueMachine.Stop(id("o2"), .slot)])
    }

    @Test("QueuePolicy: a group at its limit waits, and other groups take the slots")
    func limit() {
        var policy = QueueMachine(limit: 3)
        policy.set(limit: 1, of: "1")
        for name in ["a1", "a2", "a3"] { policy.join(id(name), session: "1") }
        for name in ["b1", "b2"] { policy.join(id(name), session: "2") }
        #expect(ids(policy.decide(at: .zero)) == ["a1", "b1", "b2"])
        policy.ended(id("b1"))
        #expect(ids(policy.decide(at: .zero)) == [])
        policy.ended(id("a1"))
        #expect(ids(policy.decide(at: .zero)) == ["a2"])
    }

    @Test("QueuePolicy: a group reports no more downloads held by the network than it may run")
    func passedOver() {
        var policy = QueueMachine(limit: 3, network: NetworkSnapshot(status: .offline))
        policy.set(limit: 1, of: "1")
        for name in ["a1", "a2"] { policy.join(id(name), session: "1") }
        for name in ["b1", "b2", "b3"] { policy.join(id(name), session: "2") }
        #expect(policy.newlyBarred().map(\.rawValue) == ["a1", "b1", "b2"])
    }

    @Test("QueuePolicy: a lower group limit stops the last of that group, and a higher one starts them again")
    func changed() {
        var policy = QueueMachine(limit: 9)
        for name in ["a1", "a2", "a3"] { policy.join(id(name), session: "1") }
        policy.join(id("b1"))
        _ = policy.decide(at: .zero)
        policy.set(limit: 1, of: "1")
        let decision = policy.decide(at: .zero)
        #expect(decision.stop == [.init(id("a2"), .slot), .init(id("a3"), .slot)])
        #expect(decision.start == [])
        // Stopping downloads keep their slots until they have stopped, and get no second stop.
        #expect(policy.decide(at: .zero) == QueueMachine.Decision())
        policy.stopped(id("a2"))
        policy.stopped(id("a3"))
        #expect(ids(policy.decide(at: .zero)) == [])
        policy.set(limit: nil, of: "1")
        #expect(ids(policy.decide(at: .zero)) == ["a2", "a3"])
    }

    @Test("QueuePolicy: the limit of the queue bounds the limit of a group")
    func underAll() {
        var policy = QueueMachine(limit: 1)
        policy.set(limit: 5, of: "1")
        for name in ["a1", "a2"] { policy.join(id(name), session: "1") }
        #expect(ids(policy.decide(at: .zero)) == ["a1"])
    }

    @Test("QueuePolicy: a group with limit 0 waits until the limit is raised")
    func zero() {
        var policy = QueueMachine(limit: 2)
        policy.set(limit: 0, of: "1")
        policy.join(id("b1"), session: "2")
        policy.join(id("a1"), session: "1")
        #expect(ids(policy.decide(at: .zero)) == ["b1"])
        #expect(policy.contestedRuns().isEmpty)
        policy.set(limit: 1, of: "1")
        #expect(policy.contestedRuns().count == 1)
        #expect(ids(policy.decide(at: .zero)) == ["a1"])
    }

    @Test("QueuePolicy: changed network needs keep a download in its group")
    func lanes() {
        var policy = QueueMachine(
            limit: 2, network: NetworkSnapshot(status: NetworkStatus(isOnline: true, isMetered: true)))
        policy.join(id("a1"), needs: NetworkNeeds(allowsMetered: false), session: "3")
        #expect(ids(policy.decide(at: .zero)) == [])
        policy.setNeeds(NetworkNeeds(), of: id("a1"))
        #expect(ids(policy.decide(at: .zero)) == ["a1"])
        #expect(policy.entries[id("a1")]?.group == 1)
    }
}
