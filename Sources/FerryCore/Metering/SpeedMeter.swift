/// Bytes per second over the last five seconds, the recent ones counting more. Pure: the time is an argument.
///
/// Only bytes that are recorded count: what was there before (a resumed file) is never recorded. It holds a fixed number
/// of slots, however long it runs.
package struct SpeedMeter: Sendable, Hashable {
    private struct Slot: Hashable, Sendable {
        var number = Int.min
        var bytes = 0.0
    }

    /// Since when bytes are counted, in seconds; `nil` until the first record.
    private var start: Double?
    private var latest = -Double.infinity
    private var slots: [Slot]

    /// The span that counts. A byte that is this old has no weight, one that is new has all of it.
    package static let window: Duration = .seconds(5)
    private static let windowSeconds = 5.0
    private static let slotSeconds = 0.25
    private static let slotCount = 21
    /// A speed over less time than this would be a guess.
    private static let shortestSpan = 0.25

    /// A meter that has seen nothing.
    ///
    /// - Parameter start: Since when time counts. Without it time begins with the first record, and that one's bytes,
    ///   which came in an unknown time, do not count.
    package init(startingAt start: Duration? = nil) {
        self.start = start.map(MonotonicTime.seconds)
        slots = Array(repeating: Slot(), count: Self.slotCount)
    }

    /// Counts bytes that came at a time; times run forward, one that goes back counts as the latest.
    package mutating func record(_ count: ByteCount, at time: Duration) {
        let now = max(MonotonicTime.seconds(time), latest)
        latest = now
        guard start != nil else {
            start = now
            return
        }
        guard count > 0 else { return }
        let number = Self.slotNumber(now)
        let index = ((number % Self.slotCount) + Self.slotCount) % Self.slotCount
        if slots[index].number != number { slots[index] = Slot(number: number) }
        slots[index].bytes += Double(count)
    }

    /// The speed now; 0 when nothing was recorded in the window. Never negative, always finite.
    package func bytesPerSecond(at time: Duration) -> Double {
        let now = max(MonotonicTime.seconds(time), latest)
        guard let start else { return 0 }
        var weighted = 0.0
        for slot in slots where slot.bytes > 0 {
            let slotStart = Double(slot.number) * Self.slotSeconds
            let from = max(slotStart, start, now - Self.windowSeconds)
            let to = min(slotStart + Self.slotSeconds, now)
            guard slotStart <= now, slotStart + Self.slotSeconds > now - Self.windowSeconds else { continue }
            let age = max(0, now - (from + max(from, to)) / 2)
            let share = to > from && slotStart >= start ? (to - from) / (to - slotStart) : 1
            weighted += slot.bytes * share * max(0, 1 - age / Self.windowSeconds)
        }
        let span = min(Self.windowSeconds, max(Self.shortestSpan, now - start))
        // The sum of the weights over the span.
        return weighted / (span - span * span / (2 * Self.windowSeconds))
    }

    /// The time that `remaining` bytes take at this speed; `nil` below one byte a second or beyond ten years.
    package func timeRemaining(remaining: ByteCount, at time: Duration) -> Duration? {
        guard remaining > 0 else { return remaining == 0 ? .zero : nil }
        let speed = bytesPerSecond(at: time)
        guard speed >= 1 else { return nil }
        let seconds = Double(remaining) / speed
        return seconds < 315_360_000 ? .milliseconds(Int64(seconds * 1000)) : nil
    }

    /// Forgets everything: for pause and resume.
    package mutating func reset(startingAt start: Duration? = nil) { self = SpeedMeter(startingAt: start) }

    private static func slotNumber(_ time: Double) -> Int { Int((time / slotSeconds).rounded(.down)) }
}
