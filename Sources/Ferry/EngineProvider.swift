import CoreMetrics
import FerryCore
package import FerryEngine
import Synchronization
import SystemPackage

/// Creates the engine's shared parts when the first download needs them.
package final class EngineProvider: Sendable {
    /// The unconfined file system, for work that depends on no configuration.
    static let fileSystem = LocalFileSystem()
    static let files = FileIO(fileSystem)
    /// The clock of the engine and the queue.
    let clock: any EngineClock
    private let state = Mutex<EngineEnvironment?>(nil)
    private let observer = Mutex<(@Sendable () -> Void)?>(nil)
    private let make: @Sendable (DownloadManager.Configuration) -> EngineEnvironment

    /// `make` builds the shared parts; tests supply their own.
    package init(
        clock: any EngineClock = SystemClock(),
        _ make: @escaping @Sendable (DownloadManager.Configuration) -> EngineEnvironment
    ) {
        self.clock = clock
        self.make = make
    }

    /// Creates the parts that are used in production.
    convenience init() {
        let clock = SystemClock()
        self.init(clock: clock) { configuration in
            EngineEnvironment(
                // The engine limits connections itself, with a limit that can change at run time.
                transport: HTTPTransport(
                    configuration.transfer, poolLimit: 1 << 16, clock: clock,
                    readFile: { await Self.read($0, most: $1) }),
                fileSystem: LocalFileSystem(sharesWithGroup: configuration.server.sharesWithGroup), clock: clock,
                throttle: Throttle(rate: configuration.rateLimit, clock: clock),
                connectionsPerHost: configuration.transfer.connectionsPerHost,
                metrics: EngineMetrics(configuration.server.metrics ?? NOOPMetricsHandler.instance))
        }
    }

    /// Returns why an open file may not be written to as a record of this user: it belongs to someone else, it has other hard
    /// links, or a server has sent it. Returns `nil` if it may be written to. Blocks.
    package static func recordProblem(ofDescriptor descriptor: Int32, at path: String) -> ErrorPhrase? {
        let path = FilePath(path)
        do throws(FileError) {
            let file = try LocalFileSystem.file(ofDescriptor: descriptor, at: path)
            defer { file.close() }
            return try RecordSource(file, at: path, fileSystem: fileSystem).flaw
        } catch { return error.phrase }
    }

    /// Sets the function that is called when downloads that wait for their hosts may start, or when downloads must wait.
    func hostsChanged(_ observer: @escaping @Sendable () -> Void) { self.observer.withLock { $0 = observer } }

    /// Reads the system's list of public suffixes, if a domain budget needs it.
    func readSuffixes() async { await state.withLock({ $0 })?.readSuffixes() }

    /// Returns the bytes of a settings file of the user; `nil` if the file is missing, or larger than `most`.
    private static func read(_ path: String, most: Int) async -> [UInt8]? {
        let path = FilePath(DownloadManager.absolute(path))
        return await files.run { disk in
            guard let file = try? disk.fileSystem.open(path, .readOnly) else { return nil }
            defer { file.close() }
            guard let length = try? file.status().length, length <= ByteCount(most) else { return nil }
            return try? file.read(0..<length)
        }
    }

    func environment(for configuration: DownloadManager.Configuration) -> EngineEnvironment {
        state.withLock { state in
            if let environment = state { return environment }
            let environment = make(configuration)
            environment.book.set(configuration.hostSettings)
            environment.book.observe { [weak self] in self?.observer.withLock { $0 }?() }
            state = environment
            return environment
        }
    }

    /// Creates separate parts for a few requests. The caller must shut down their transport.
    func another(for configuration: DownloadManager.Configuration) -> EngineEnvironment { make(configuration) }

    /// The shared parts, if a download has already needed them.
    var started: EngineEnvironment? { state.withLock { $0 } }

    /// Passes changed limits to the engine.
    func apply(_ configuration: DownloadManager.Configuration) {
        guard let environment = state.withLock({ $0 }) else { return }
        environment.use(configuration.transfer)
        environment.set(rateLimit: configuration.rateLimit)
        environment.set(connectionsPerHost: configuration.transfer.connectionsPerHost)
        environment.book.set(configuration.hostSettings)
    }

    /// Discards knowledge about servers and names that was gained on another network.
    func networkChanged() {
        HostNames.shared.networkChanged()
        state.withLock { $0 }?.book.networkChanged()
    }

    func shutdown() async {
        guard let environment = state.withLock({ $0 }) else { return }
        await environment.transport.shutdown()
    }
}

extension DownloadManager.Configuration {
    /// The number of retries of a one-shot run if the host refuses every connection from the start; they take some seconds.
    private static let oneShotRetries = 3

    /// The settings passed to each driver.
    var driverSettings: DriverSettings {
        var settings = DriverSettings()
        settings.stallTimeout = stallTimeout
        settings.maxRetries = maxRetries
        // A stored list waits for its servers; a one-shot run has to end.
        settings.maxFirstRetries = storage.isKept || maxRetries == nil ? nil : Self.oneShotRetries
        settings.failsWhenRefused = failsWhenRefused
        settings.minFreeBytes = minFreeBytes
        return settings
    }
}
