import FerryTesting
import Synchronization
import Testing

@testable import Ferry

@Suite("Heartbeat of a list", .timeLimit(.minutes(30)))
struct HeartbeatTests {
    @Test("Heartbeat: a run that begins during the last beat has another one, and one that begins later too")
    func restarted() async throws {
        let clock = ManualClock()
        let heartbeat = Heartbeat(clock)
        let beats = Mutex(0)
        @Sendable func beat(_: Heartbeat.Beat) -> Bool {
            // Nothing runs; but before that is known, something begins to.
            beats.withLock { $0 += 1 }
            if beats.withLock({ $0 }) == 1 { heartbeat.start(beat) }
            return false
        }
        heartbeat.start(beat)
        try await eventually {
            clock.advance(by: Heartbeat.interval)
            return beats.withLock { $0 } == 2
        }
        // Nothing runs any more.
        for _ in 0..<10 {
            clock.advance(by: Heartbeat.interval)
            for _ in 0..<10 { await Task.yield() }
        }
        #expect(beats.withLock { $0 } == 2)
        heartbeat.start(beat)
        try await eventually {
            clock.advance(by: Heartbeat.interval)
            return beats.withLock { $0 } == 3
        }
    }

    @Test("Heartbeat: one that was stopped does not beat, and begins again")
    func stopped() async throws {
        let clock = ManualClock()
        let heartbeat = Heartbeat(clock)
        let before = Mutex(0)
        let after = Mutex(0)
        heartbeat.start { _ in
            before.withLock { $0 += 1 }
            return true
        }
        heartbeat.stop()
        heartbeat.start { _ in
            after.withLock { $0 += 1 }
            return true
        }
        try await eventually {
            clock.advance(by: Heartbeat.interval)
            return after.withLock { $0 } >= 3
        }
        #expect(before.withLock { $0 } == 0)
        heartbeat.stop()
    }
}
