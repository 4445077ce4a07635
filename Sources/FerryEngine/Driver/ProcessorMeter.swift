package import FerryCore
import Synchronization

/// Measures how busy this process is, at most once a second for all downloads, on a file thread.
package final class ProcessorMeter: Sendable {
    /// The meter of the process, shared so that its cost does not grow with the number of managers.
    package static let shared = ProcessorMeter()
    /// The maximum number of threads whose times are read; with more threads there are no results.
    static let mostThreads = 256

    /// The time of a thread since it was started, in nanoseconds.
    struct ThreadTime: Sendable {
        /// The time spent on a core.
        var ran: UInt64
        /// The time spent runnable, but not on a core: other threads were running, or the group's quota was used up.
        var waited: UInt64
    }

    private struct State {
        var last: (time: ContinuousClock.Instant, threads: [Int: ThreadTime])?
        var facts: ProcessorFacts?
        var isReading = false

        /// Returns whether a reading of the threads' times is due; if so, the caller must perform it.
        mutating func begin(at now: ContinuousClock.Instant) -> Bool {
            if isReading { return false }
            if let last, now - last.time < ProcessorMeter.interval { return false }
            isReading = true
            return true
        }

        mutating func take(_ threads: [Int: ThreadTime], at now: ContinuousClock.Instant) {
            facts = last.flatMap { last in
                ProcessorMeter.facts(from: last.threads, to: threads, seconds: (now - last.time).seconds)
            }
            last = (now, threads)
            isReading = false
        }
    }
    private let state = Mutex(State())
    private static let interval = Duration.milliseconds(900)

    package init() {}

    /// Returns the facts of about the last second; `nil` before that, and if the system does not report them.
    package func facts(_ files: FileIO) async -> ProcessorFacts? {
        if state.withLock({ $0.begin(at: .now) }) {
            await files.run { [self] _ in
                let threads = ThreadTime.all()
                state.withLock { $0.take(threads, at: .now) }
            }
        }
        return state.withLock { $0.facts }
    }

    fileprivate static func facts(
        from before: [Int: ThreadTime], to after: [Int: ThreadTime], seconds: Double
    ) -> ProcessorFacts? {
        // After a longer time without downloads there is no recent reading to compare with.
        guard !after.isEmpty, seconds < 5 else { return nil }
        var facts = ProcessorFacts(busiest: 0, cores: 0)
        for (thread, time) in after {
            let old = before[thread] ?? ThreadTime(ran: 0, waited: 0)
            let ran = Double(time.ran &- old.ran) / 1e9 / seconds
            let waited = Double(time.waited &- old.waited) / 1e9 / seconds
            facts.busiest = min(1, max(facts.busiest, ran + waited))
            facts.cores += ran
            facts.missing += waited
        }
        return facts
    }
}
