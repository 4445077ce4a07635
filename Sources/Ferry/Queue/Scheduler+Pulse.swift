import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Progress, ten times a second while something runs, and never when nothing does.
extension Scheduler {
    private static let interval: Duration = .milliseconds(100)
    /// How often what is held is written to the catalogue, in beats.
    private static let beatsPerRecord = 100

    func startPulse() { state.withLock { startPulse(&$0) } }

    func startPulse(_ state: inout State) {
        guard state.pulse == nil, !state.runs.isEmpty, state.phase == .open else { return }
        // owner: state.pulse, cancelled in shutdown; it ends by itself when nothing runs.
        state.pulse = Task { [weak self, clock] in
            while !Task.isCancelled {
                try? await clock.sleep(for: Self.interval)
                guard let self, self.beat() else { return }
            }
        }
    }

    private func beat() -> Bool {
        let (running, isRecordDue) = state.withLock { state in
            state.beats += 1
            let running = state.runs.compactMap { id, run in
                registry[id].map { (live: $0, hasBegun: run.hasBegun) }
            }
            return (running, state.beats % Self.beatsPerRecord == 0)
        }
        let dispatcher = state.withLock { $0.dispatcher }
        for (live, hasBegun) in running {
            live.publish()
            // Not before the server has answered: a delegate hears of the beginning first.
            guard let dispatcher, hasBegun, live.current == .downloading else { continue }
            dispatcher.report(live.status.progress, of: live.id)
        }
        if isRecordDue, let store = keptStore {
            store.submit(
                running.map { live, _ in
                    let progress = live.status.progress
                    return .update(
                        live.id, [.progress(completedBytes: progress.completedBytes, totalBytes: progress.totalBytes)])
                })
        }
        return state.withLock { state in
            guard state.runs.isEmpty else { return true }
            state.pulse = nil
            return false
        }
    }
}
