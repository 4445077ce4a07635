import FerryCore
import FerryEngine
import Synchronization

/// Ten beats a second while downloads run, and the dispatcher that receives their progress.
///
/// The heartbeat begins with a run or an observer, and ends by itself after a beat that finds no running download. A start
/// during that beat is not lost, because one more beat follows. There is never more than one task.
final class Heartbeat: Sendable {
    static let interval: Duration = .milliseconds(100)
    /// The progress is stored in the catalogue at every beat whose number is a multiple of this number.
    private static let beatsPerRecord = 100

    struct Beat {
        var isRecordDue: Bool
        var dispatcher: DelegateDispatcher?
    }

    private struct State {
        var task: Task<Void, Never>?
        /// Identifies the task.
        var number = 0
        /// Whether a start was requested since the last beat.
        var isWanted = false
        var beats = 0
        weak var dispatcher: DelegateDispatcher?
    }
    private let state = Mutex(State())
    private let clock: any EngineClock

    init(_ clock: any EngineClock) { self.clock = clock }

    /// The number of beats so far.
    var beats: Int { state.withLock { $0.beats } }

    /// Sets the dispatcher that receives progress; held weakly.
    func set(_ dispatcher: DelegateDispatcher?) { state.withLock { $0.dispatcher = dispatcher } }

    /// Starts the beats, unless they are running; `beat` returns whether any download is running.
    func start(_ beat: @escaping @Sendable (Beat) -> Bool) {
        state.withLock { state in
            state.isWanted = true
            guard state.task == nil else { return }
            state.number += 1
            let number = state.number
            // owner: state, cancelled in stop; ends when nothing runs.
            state.task = Task { [weak self, clock] in
                while true {
                    try? await clock.sleep(for: Self.interval)
                    guard let next = self?.next(number) else { return }
                    if !beat(next), self?.ended(number) ?? true { return }
                }
            }
        }
    }

    /// Ends the beats.
    func stop() {
        let last: Task<Void, Never>? = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        last?.cancel()
    }

    /// The next beat of a task; `nil` if the task was stopped.
    private func next(_ number: Int) -> Beat? {
        state.withLock { state in
            guard state.number == number, state.task != nil else { return nil }
            state.isWanted = false
            state.beats += 1
            return Beat(isRecordDue: state.beats % Self.beatsPerRecord == 0, dispatcher: state.dispatcher)
        }
    }

    /// Ends a task that has found no running download, unless a start was requested meanwhile.
    private func ended(_ number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return true }
            if state.isWanted { return false }
            state.task = nil
            return true
        }
    }
}
