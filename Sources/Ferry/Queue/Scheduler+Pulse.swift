import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Progress reports, ten times a second while downloads run.
extension Scheduler {
    private static let interval: Duration = .milliseconds(100)
    /// The interval of storing progress in the catalogue, in beats.
    private static let beatsPerRecord = 100

    func startPulse() { state.withLock { startPulse(&$0) } }

    func startPulse(_ state: inout State) {
        guard state.pulse == nil, !state.runs.isEmpty, state.phase == .open else { return }
        // owner: state.pulse, cancelled in shutdown; ends by itself when no download is running.
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
            // Report progress only after the start, which a delegate receives first.
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
