import FerryAPI
import FerryCore
import Synchronization

/// The speed of each running download over the last two minutes, with one sample per second.
final class SpeedHistory: Sendable {
    private struct State {
        var samples: [DownloadID: [Int64]] = [:]
        var last: Duration?
    }
    private let state = Mutex(State())

    /// Records the speeds of the running downloads, at most once a second, and forgets all others.
    func note(_ running: [DownloadStatus], at now: Duration) {
        state.withLock { state in
            if let last = state.last, now - last < .seconds(1) { return }
            state.last = now
            var samples: [DownloadID: [Int64]] = [:]
            for status in running {
                var own = state.samples[status.id] ?? []
                own.append(Int64(bytesPerSecond: status.progress.bytesPerSecond))
                if own.count > DownloadDetail.mostSpeeds { own.removeFirst() }
                samples[status.id] = own
            }
            state.samples = samples
        }
    }

    func samples(of id: DownloadID) -> [Int64] { state.withLock { $0.samples[id] ?? [] } }
}

extension Int64 {
    /// A speed in whole bytes per second; 0 for a speed that no transfer can have.
    init(bytesPerSecond speed: Double) { self = speed.isFinite && speed > 0 && speed < 9e18 ? Int64(speed) : 0 }
}
