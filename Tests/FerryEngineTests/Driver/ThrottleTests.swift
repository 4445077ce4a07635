import FerryCore
import Foundation
import Testing

@testable import FerryEngine

@Suite("Throttle", .timeLimit(.minutes(30)))
struct ThrottleTests {
    /// A clock that does not advance: a task that sleeps under it sleeps until it is cancelled.
    private final class StandingClock: EngineClock {
        let asleep = AsyncEvent()
        func now() -> Duration { .seconds(100) }
        func date() -> Date { Date(timeIntervalSince1970: 0) }
        func sleep(for duration: Duration) async throws {
            asleep.notify()
            await AsyncEvent().wait(after: 0)
            try Task.checkCancellation()
        }
    }

    @Test(
        "Throttle: a raised or lifted rate wakes the tasks that sleep under the old one",
        arguments: [nil, 1_000_000_000])
    func raised(rate: Int64?) async {
        let clock = StandingClock()
        let throttle = Throttle(rate: 1, clock: clock)
        async let passed: Void = throttle.passed(1000)
        await clock.asleep.wait(after: 0)
        throttle.set(rate: rate)
        // A high rate leaves a short sleep: lifting the rate ends that too.
        if rate != nil {
            await clock.asleep.wait(after: 1)
            throttle.set(rate: nil)
        }
        await passed
        #expect(throttle.rate == nil)
    }

    @Test("Throttle: a task that sleeps under the rate continues when it is cancelled")
    func cancelled() async {
        let clock = StandingClock()
        let throttle = Throttle(rate: 1, clock: clock)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await throttle.passed(1000) }
            await clock.asleep.wait(after: 0)
            group.cancelAll()
        }
    }
}
