import FerryCore
import Synchronization
import Testing

@testable import FerryEngine

@Suite("AsyncEvent", .timeLimit(.minutes(30)))
struct SignalTests {
    @Test("AsyncEvent: a notification before any wait releases every waiter that has not seen it")
    func kept() async {
        let signal = AsyncEvent()
        let seen = signal.count
        signal.notify()
        // Were the notification kept for the first waiter alone, the second would wait for ever.
        await signal.wait(after: seen)
        await signal.wait(after: seen)
        #expect(signal.count == seen + 1)
    }

    @Test("AsyncEvent: notify() wakes all waiting tasks")
    func wakes() async {
        let signal = AsyncEvent()
        let seen = signal.count
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await signal.wait(after: seen) } }
            group.addTask { signal.notify() }
        }
    }

    @Test("AsyncEvent: a wait ends when its task is cancelled")
    func cancelled() async {
        let signal = AsyncEvent()
        let task = Task { await signal.wait(after: signal.count) }
        task.cancel()
        await task.value
    }
}

@Suite("AsyncLock", .timeLimit(.minutes(30)))
struct TurnTests {
    @Test("AsyncLock: at most one of fifty concurrent tasks holds it")
    func exclusive() async {
        let lock = AsyncLock()
        let gauge = Gauge()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await lock.acquire()
                    gauge.enter()
                    await Task.yield()
                    gauge.leave()
                    lock.release()
                }
            }
        }
        #expect(gauge.most == 1)
        #expect(lock.tryAcquire())
        #expect(!lock.tryAcquire())
    }
}

/// Counts the tasks inside.
private final class Gauge: Sendable {
    private let counts = Mutex((inside: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }
    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
        }
    }
    func leave() { counts.withLock { $0.inside -= 1 } }
}
