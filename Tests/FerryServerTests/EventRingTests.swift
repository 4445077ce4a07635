import Testing

@testable import FerryServer

@Suite("EventRing")
struct EventRingTests {
    private func ring(_ change: (inout EventRing.Limits) -> Void = { _ in }) -> EventRing {
        var limits = EventRing.Limits()
        change(&limits)
        return EventRing(limits: limits)
    }

    private func numbers(_ ring: EventRing, after start: Int64, session: String? = nil) -> [Int64]? {
        var cursor = start
        var all: [Int64] = []
        while let some = ring.take(after: &cursor, session: session, most: 10), !some.isEmpty {
            all += some.map(\.number)
        }
        return ring.reaches(start) ? all : nil
    }

    @Test("EventRing: a client that returns gets the events it missed, in order and of its session")
    func replay() {
        var ring = ring()
        for number in 1...9 {
            ring.append(session: ["a", "b", nil][number % 3], at: .zero) { _ in [1] }
        }
        #expect(numbers(ring, after: 0) == Array(1...9))
        #expect(numbers(ring, after: 7) == [8, 9])
        #expect(numbers(ring, after: 9) == [])
        #expect(numbers(ring, after: 0, session: "a") == [2, 3, 5, 6, 8, 9])
        #expect(numbers(ring, after: 10) == nil)
    }

    @Test("EventRing: the number, age and bytes of the held events are bounded")
    func bounds() {
        var ring = ring {
            $0.count = 5
            $0.age = .seconds(10)
            $0.bytes = 100
        }
        for number in 1...8 { ring.append(session: nil, at: .seconds(number)) { _ in [0] } }
        #expect(ring.count == 5)
        #expect(numbers(ring, after: 3) == [4, 5, 6, 7, 8])
        #expect(numbers(ring, after: 2) == nil)
        ring.trim(at: .seconds(16))
        #expect(numbers(ring, after: 5) == [6, 7, 8])
        #expect(numbers(ring, after: 4) == nil)
        ring.append(session: nil, at: .seconds(17)) { _ in [UInt8](repeating: 0, count: 99) }
        #expect(ring.heldBytes <= 100)
        #expect(ring.storedBytes == ring.heldBytes)
        #expect(ring.last == 9)
    }

    @Test("EventRing: forget() makes every earlier position start again")
    func forgetting() {
        var ring = ring()
        ring.append(session: nil, at: .zero) { _ in [0] }
        ring.forget()
        #expect(numbers(ring, after: 0) == nil)
        #expect(numbers(ring, after: 1) == nil)
        #expect(numbers(ring, after: ring.last) == [])
        ring.append(session: nil, at: .zero) { _ in [0] }
        #expect(numbers(ring, after: 2) == [3])
    }

    @Test("EventRing: of 100,000 events only the newest are held")
    func long() {
        var ring = ring { $0.count = 100 }
        for number in 1...100_000 {
            ring.append(session: nil, at: .zero) { _ in [0] }
            if number % 9999 == 0 { #expect(ring.count == 100) }
        }
        #expect(numbers(ring, after: 99_900)?.count == 100)
    }
}

@Suite("LaunchPolicy")
struct LaunchPolicyTests {
    @Test("LaunchPolicy: a burst of ends launches the app once, and again only after it has exited and a pause")
    func bursts() {
        var policy = LaunchPolicy()
        #expect(policy.decide(hasClient: false, at: .zero) == .nothing)
        policy.ended(1)
        policy.ended(2)
        #expect(policy.decide(hasClient: false, at: .zero) == .launch)
        policy.ended(3)
        #expect(policy.decide(hasClient: false, at: .seconds(1)) == .nothing)
        policy.exited()
        #expect(policy.decide(hasClient: false, at: .seconds(2)) == .wait(until: LaunchPolicy.pause))
        #expect(policy.decide(hasClient: false, at: LaunchPolicy.pause) == .launch)
    }

    @Test("LaunchPolicy: an attached client prevents the launch until it leaves without an acknowledgement")
    func attached() {
        var policy = LaunchPolicy()
        policy.ended(1)
        #expect(policy.decide(hasClient: true, at: .zero) == .nothing)
        policy.acknowledged([1])
        #expect(policy.decide(hasClient: false, at: .zero) == .nothing)
        policy.ended(2)
        #expect(policy.decide(hasClient: true, at: .zero) == .nothing)
        #expect(policy.decide(hasClient: false, at: .zero) == .launch)
    }

    @Test("LaunchPolicy: an event that the app has not acknowledged launches it no second time")
    func stubborn() {
        var policy = LaunchPolicy()
        policy.ended(7)
        #expect(policy.decide(hasClient: false, at: .zero) == .launch)
        policy.exited()
        #expect(policy.decide(hasClient: false, at: .seconds(1000)) == .nothing)
        policy.ended(8)
        #expect(policy.decide(hasClient: false, at: .seconds(1000)) == .launch)
    }

    @Test("LaunchPolicy: events from before the daemon's start launch the app after a time for clients to return")
    func restarted() {
        var policy = LaunchPolicy(earliest: .seconds(10))
        policy.ended(1)
        #expect(policy.decide(hasClient: false, at: .seconds(1)) == .wait(until: .seconds(10)))
        #expect(policy.decide(hasClient: false, at: .seconds(10)) == .launch)
    }
}
