import FerryEngine
import Synchronization

/// Makes the engine's shared parts when the first download needs them.
final class EngineProvider: Sendable {
    private struct State {
        var environment: EngineEnvironment?
        var throttle: Throttle?
    }
    private let state = Mutex(State())
    private let make: @Sendable (DownloadManager.Configuration) -> EngineEnvironment

    /// `make` builds the shared parts; tests give their own.
    init(_ make: @escaping @Sendable (DownloadManager.Configuration) -> EngineEnvironment) { self.make = make }

    /// The real ones.
    convenience init() {
        self.init { configuration in
            let clock = SystemClock()
            // Who may connect is decided by the engine, and can be changed while it runs.
            let transport = HTTPTransport(configuration.transfer, poolLimit: 1 << 16)
            let throttle = Throttle(rate: configuration.rateLimit, clock: clock)
            // Under a limit small pieces are taken, so that it stays even.
            if let piece = throttle.preferredPiece { transport.receiveBufferCap = piece }
            return EngineEnvironment(
                transport: transport, clock: clock, pool: BlockingPool(), executor: TransferExecutor.shared,
                loops: HTTPTransport.executors, throttle: throttle,
                connectionsPerHost: configuration.transfer.connectionsPerHost)
        }
    }

    func environment(for configuration: DownloadManager.Configuration) -> EngineEnvironment {
        state.withLock { state in
            if let environment = state.environment { return environment }
            let environment = make(configuration)
            state.environment = environment
            return environment
        }
    }

    func setRate(_ rate: ByteCount?) { state.withLock { $0.environment }?.set(rateLimit: rate) }

    /// Deletes what a download that does not run has left.
    func discard(_ download: Download) async {
        guard let environment = state.withLock({ $0.environment }), let path = download.status.path else { return }
        await environment.pool.run {
            DownloadDriver.discard(path: path, id: download.id, fileSystem: environment.fileSystem)
        }
    }

    func shutdown() async {
        guard let environment = state.withLock({ $0.environment }) else { return }
        await environment.transport.shutdown()
        await environment.pool.shutdown()
    }
}
