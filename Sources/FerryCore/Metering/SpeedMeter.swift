/// A weighted average of bytes per second over the last five seconds. The time is passed as an argument.
///
/// Only recorded bytes count, so the partial content of a resumed file does not. The number of slots is fixed.
package struct SpeedMeter: Sendable, Hashable {
    private struct Slot: Hashable, Sendable {
        var number = Int.min
        var bytes = 0.0
    }

    /// The start of the measurement in seconds; `nil` until the first record.
    private var start: Double?
    private var latest = -Double.infinity
    private var slots: [Slot]

    /// The window. Weights fall linearly from 1 for new bytes to 0 for bytes of this age.
    package static let window: Duration = .seconds(5)
    private static let windowSeconds = 5.0
    private static let slotSeconds = 0.25
    private static let slotCount = 21
    /// The minimum time span in seconds, since shorter ones give unreliable speeds.
    private static let shortestSpan = 0.25

    /// Creates an empty meter.
    ///
    /// - Parameter start: The start of the measurement. Without it, measurement starts with the first record; the bytes
    ///   of that record do not count, because they arrived in an unknown time.
    package init(startingAt start: Duration? = nil) {
        self.start = start.map(MonotonicTime.seconds)
        slots = Array(repeating: Slot(), count: Self.slotCount)
    }

    /// Records bytes at a time; a time before the latest record counts as the latest.
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

    /// Returns the present speed, never negative, always finite; 0 when nothing was recorded in the window.
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
        // The integral of the weights over the span.
        return weighted / (span - span * span / (2 * Self.windowSeconds))
    }

    /// Returns the time for `remaining` bytes at this speed; `nil` below one byte a second or above ten years.
    package func timeRemaining(remaining: ByteCount, at time: Duration) -> Duration? {
        guard remaining > 0 else { return remaining == 0 ? .zero : nil }
        let speed = bytesPerSecond(at: time)
        guard speed >= 1 else { return nil }
        let seconds = Double(remaining) / speed
        return seconds < 315_360_000 ? .milliseconds(Int64(seconds * 1000)) : nil
    }

    /// Discards all records, for pause and resume.
    package mutating func reset(startingAt start: Duration? = nil) { self = SpeedMeter(startingAt: start) }

    private static func slotNumber(_ time: Double) -> Int { Int((time / slotSeconds).rounded(.down)) }
}
