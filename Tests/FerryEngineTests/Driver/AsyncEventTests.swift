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

    @Test("AsyncLock: several tasks share it; it is free for exclusive use once all have released it")
    func shared() async {
        let lock = AsyncLock()
        await lock.acquireShared()
        await lock.acquireShared()
        #expect(!lock.tryAcquire())
        lock.release()
        #expect(!lock.tryAcquire())
        lock.release()
        #expect(lock.tryAcquire())
    }

    @MainActor
    @Test("AsyncLock: shared use waits behind exclusive use that was asked for before, and begins together")
    func order() async {
        let lock = AsyncLock()
        let order = Mutex<[String]>([])
        let both = AsyncEvent()
        await lock.acquireShared()
        // The main actor runs them in this order, each until it waits.
        let tasks = ["exclusive", "shared", "shared", "last"].map { name in
            // owner: this test, which awaits it.
            Task {
                if name == "shared" { await lock.acquireShared() } else { await lock.acquire() }
                order.withLock { $0.append(name) }
                if name == "shared" {
                    // Each holds it until the other does.
                    both.notify()
                    await both.wait(after: 1)
                }
                lock.release()
            }
        }
        for _ in tasks { await Task.yield() }
        #expect(order.withLock { $0 } == [])
        lock.release()
        for task in tasks { await task.value }
        #expect(order.withLock { $0 } == ["exclusive", "shared", "shared", "last"])
    }

    @Test("AsyncLock: neither mode is had together with the other, and shared use overlaps")
    func modes() async {
        let lock = AsyncLock()
        let (exclusive, shared) = (Gauge(), Gauge())
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask {
                    let isShared = index % 3 != 0
                    if isShared { await lock.acquireShared() } else { await lock.acquire() }
                    (isShared ? shared : exclusive).enter()
                    #expect((isShared ? exclusive : shared).inside == 0)
                    await Task.yield()
                    (isShared ? shared : exclusive).leave()
                    lock.release()
                }
            }
        }
        #expect(exclusive.most == 1)
        #expect(lock.tryAcquire())
    }
}

/// Counts the tasks inside.
private final class Gauge: Sendable {
    private let counts = Mutex((inside: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }
    var inside: Int { counts.withLock { $0.inside } }
    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
        }
    }
    func leave() { counts.withLock { $0.inside -= 1 } }
}
