import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Progress, ten times a second while something runs, and never when nothing does.
extension Scheduler {
    /// How often what is held is written to the catalogue, in beats of 100 ms.
    private static let beatsPerRecord = 100

    func startPulse() { state.withLock { startPulse(&$0) } }

    func startPulse(_ state: inout State) {
        guard state.pulse == nil, !state.runs.isEmpty, state.phase == .open else { return }
        // owner: state.pulse, cancelled in shutdown; it ends by itself when nothing runs.
        state.pulse = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
                guard let self, self.beat() else { return }
            }
        }
    }

    private func beat() -> Bool {
        let (running, isRecordDue) = state.withLock { state in
            state.beats += 1
            let live = state.runs.keys.compactMap { state.live[$0]?.live }
            return (live, state.beats % Self.beatsPerRecord == 0)
        }
        let dispatcher = state.withLock { $0.dispatcher }
        for live in running {
            live.publish()
            if let dispatcher, live.current == .downloading { dispatcher.report(live.status.progress, of: live.id) }
        }
        if isRecordDue, let store = keptStore {
            store.submit(
                running.map {
                    let progress = $0.status.progress
                    return .update(
                        $0.id, [.progress(completedBytes: progress.completedBytes, totalBytes: progress.totalBytes)])
                })
        }
        return state.withLock { state in
            guard state.runs.isEmpty else { return true }
            state.pulse = nil
            return false
        }
    }
}
