import FerryAPI
import FerryCore
import Synchronization

/// How fast each download that runs was in the last two minutes, one sample a second.
final class SpeedHistory: Sendable {
    private struct State {
        var samples: [DownloadID: [Int64]] = [:]
        var last: Duration?
    }
    private let state = Mutex(State())

    /// Notes the speeds of those that run, once a second at most; the others are forgotten.
    func note(_ running: [DownloadStatus], at now: Duration) {
        state.withLock { state in
            if let last = state.last, now - last < .seconds(1) { return }
            state.last = now
            var samples: [DownloadID: [Int64]] = [:]
            for status in running {
                var own = state.samples[status.id] ?? []
                let speed = status.progress.bytesPerSecond
                own.append(speed.isFinite && speed > 0 && speed < 9e18 ? Int64(speed) : 0)
                if own.count > DownloadDetail.mostSpeeds { own.removeFirst() }
                samples[status.id] = own
            }
            state.samples = samples
        }
    }

    func samples(of id: DownloadID) -> [Int64] { state.withLock { $0.samples[id] ?? [] } }
}
