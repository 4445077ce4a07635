package import FerryCore
import Synchronization

/// A rate limit that several connections share.
package final class Throttle: Sendable {
    private let bucket: Mutex<TokenBucket>
    /// Whether there is a limit; read for each piece of a body, without a lock.
    private let limits: Atomic<Bool>
    private let clock: any EngineClock
    /// Notified when the limit changes, so that waiting connections recompute their delay.
    private let changed = AsyncEvent()

    /// `rate` in bytes per second; `nil` for no limit.
    package init(rate: ByteCount?, clock: any EngineClock) {
        bucket = Mutex(TokenBucket(bytesPerSecond: rate))
        limits = Atomic(rate != nil)
        self.clock = clock
    }

    /// Changes the limit immediately, even for connections that are waiting.
    package func set(rate: ByteCount?) {
        let now = clock.now()
        bucket.withLock { bucket in
            bucket.setRate(rate, at: now)
            limits.store(rate != nil, ordering: .relaxed)
        }
        changed.notify()
    }

    var isLimited: Bool { limits.load(ordering: .relaxed) }

    package var rate: ByteCount? { bucket.withLock { $0.bytesPerSecond } }

    /// The maximum number of bytes to read at once under this limit; `nil` without a limit.
    package var preferredPiece: Int? { bucket.withLock { $0.preferredPiece } }

    /// The maximum number of bytes to read at once while several downloads share this limit; `nil` without a limit.
    package var sharedPiece: Int? { bucket.withLock { $0.sharedPiece } }

    /// Accounts for received bytes and waits until more bytes may be received.
    package func passed(_ count: ByteCount) async {
        guard isLimited else { return }
        let seen = changed.count
        let delay = bucket.withLock { bucket in
            bucket.bytesPerSecond == nil ? .zero : bucket.take(count, at: clock.now())
        }
        if delay > .zero { await wait(delay, changedAfter: seen) }
    }

    private func wait(_ delay: Duration, changedAfter seen: UInt64) async {
        var (delay, seen) = (delay, seen)
        while delay > .zero, await isChanged(within: delay, after: seen) {
            seen = changed.count
            delay = bucket.withLock { $0.delay(at: clock.now()) }
        }
    }

    /// Returns whether the limit changes within `delay`; `false` when the task is cancelled.
    private func isChanged(within delay: Duration, after seen: UInt64) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [clock] in
                try? await clock.sleep(for: delay)
                return false
            }
            group.addTask { [changed] in
                await changed.wait(after: seen)
                return !Task.isCancelled
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

/// Reports a download's own rate limit to the environment while bodies are read, so that the sizes of reads are adapted to it.
final class ReadLimit: Sendable {
    private let environment: EngineEnvironment
    private let throttle: Throttle
    private let state = Mutex(Reading.idle)

    /// Whether bodies are read, and whether the limit applies to them.
    private enum Reading { case idle, unlimited, limited }

    init(_ throttle: Throttle, _ environment: EngineEnvironment) {
        self.throttle = throttle
        self.environment = environment
    }

    func begin() {
        state.withLock { state in
            state = .unlimited
            note(throttle.rate, &state)
        }
    }

    /// Reports that the rate of the throttle has changed.
    func changed() { state.withLock { note(throttle.rate, &$0) } }

    func end() {
        state.withLock { state in
            note(nil, &state)
            state = .idle
        }
    }

    private func note(_ rate: ByteCount?, _ state: inout Reading) {
        if state == .idle || state == .unlimited && rate == nil { return }
        state = rate == nil ? .unlimited : .limited
        environment.note(limitOf: throttle, isRunning: rate != nil)
    }
}
