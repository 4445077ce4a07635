import Dispatch
import FerryCore
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

@Suite("Ticker and timers", .timeLimit(.minutes(30)))
struct MetronomeTests {
    @Test("Ticker: it notifies even while computations occupy every thread of the Swift pool")
    func busyThreads() async {
        let ticker = Ticker(
            clock: SystemClock(), interval: .milliseconds(20), executor: HTTPTransport.executors.first)
        let updates = AsyncEvent()
        let count = ProcessInfo.processInfo.activeProcessorCount
        let ticked = DispatchSemaphore(value: 0)
        let busy = (0..<count).map { _ in Task { Self.compute(until: ticked) } }
        let waiting = Task(executorPreference: HTTPTransport.executors.first) {
            ticker.add(updates)
            await updates.wait(after: updates.count)
            for _ in 0..<count { ticked.signal() }
        }
        for task in busy { #expect(await task.value == .success) }
        await waiting.value
        ticker.remove(updates)
    }

    /// Occupies a thread, as code that never suspends does.
    private static func compute(until ticked: DispatchSemaphore) -> DispatchTimeoutResult {
        ticked.wait(timeout: .now() + 30)
    }

    @Test("SystemClock: a sleep ends when its task is cancelled, before it starts and while it runs")
    func cancelled() async {
        let asleep = Task { try await SystemClock().sleep(for: .seconds(10_000)) }
        asleep.cancel()
        await #expect(throws: CancellationError.self) { try await asleep.value }
        let begun = AsyncEvent()
        let later = Task {
            begun.notify()
            try await SystemClock().sleep(for: .seconds(10_000))
        }
        await begun.wait(after: 0)
        later.cancel()
        await #expect(throws: CancellationError.self) { try await later.value }
    }

    /// A download planned for 02:00 once started three hours after the machine had woken.
    @Test("WakeTimer: a sleep whose time passes while the machine sleeps ends at the next check of the clock")
    func machineSlept() async throws {
        let looks = Atomic(0)
        let night: @Sendable () -> Duration = {
            looks.add(1, ordering: .relaxed).oldValue < 3 ? .zero : .seconds(36_000)
        }
        try await WakeTimer.sleep(for: .seconds(18_000), by: night, lookingEach: .milliseconds(1))
        #expect(looks.load(ordering: .relaxed) == 4)
    }

    @Test("SystemClock: zero and negative sleeps return, and a sleep of the largest duration can be cancelled")
    func lengths() async throws {
        try await SystemClock().sleep(for: .zero)
        try await SystemClock().sleep(for: .seconds(-5))
        let ages = Task { try await SystemClock().sleep(for: .seconds(Int64.max)) }
        ages.cancel()
        await #expect(throws: CancellationError.self) { try await ages.value }
    }
}
