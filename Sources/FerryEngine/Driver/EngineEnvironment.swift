package import FerryCore
import Synchronization
package import SystemPackage

/// The resources that all downloads of one manager share.
package final class EngineEnvironment: Sendable {
    package let transport: any Transport
    /// The access to the file system.
    package let files: FileIO
    package let clock: any EngineClock
    /// Returns a random number in 0..<1.
    package let random: @Sendable () -> Double
    /// Measures how busy this process is; `nil` if that is not requested.
    let processor: ProcessorMeter?
    let metrics: EngineMetrics
    let ticker: Ticker
    private let loops: [EventLoopExecutor]
    private let nextLoop = Atomic(0)
    /// The rate limit over all downloads.
    package let throttle: Throttle
    /// The limit of connections to each host, over all downloads.
    package let hosts: ConnectionLimiter
    /// The budgets and the health of hosts.
    package let book: HostBook
    private let hasSoughtSuffixes = Atomic(false)
    /// The piece sizes that the rate limits of running downloads prefer.
    private let pieces = Mutex<[ObjectIdentifier: Int]>([:])
    private let directories = Mutex(RecentValues<FilePath, JournalIndex>(capacity: EngineEnvironment.mostDirectories))
    /// The capacity of the journal index cache, in directories; an evicted directory is read again when needed.
    static let mostDirectories = 64

    package init(
        // allow(single-place): the file system of the engine's `FileIO`.
        transport: any Transport, fileSystem: any FileSystem = LocalFileSystem(),
        clock: any EngineClock = SystemClock(), loops: [EventLoopExecutor] = HTTPTransport.executors,
        throttle: Throttle? = nil,
        connectionsPerHost: Int = 16, hostSettings: HostMachine.Settings = HostMachine.Settings(),
        random: @escaping @Sendable () -> Double = Jitter().next,
        processor: ProcessorMeter? = .shared, metrics: EngineMetrics = EngineMetrics()
    ) {
        self.transport = transport
        files = FileIO(fileSystem)
        self.clock = clock
        self.random = random
        self.processor = processor
        self.metrics = metrics
        self.loops = loops
        ticker = Ticker(clock: clock, interval: TransferMachine.tickInterval, executor: loops.first)
        self.throttle = throttle ?? Throttle(rate: nil, clock: clock)
        hosts = ConnectionLimiter(limit: connectionsPerHost)
        book = HostBook(hostSettings, connections: hosts, clock: clock)
        limitPieces()
    }

    /// Changes the settings of connections, from the next request on.
    package func use(_ settings: TransferSettings) { transport.use(settings) }

    /// Changes the rate limit over all downloads, in bytes per second; `nil` for none.
    package func set(rateLimit: ByteCount?) {
        throttle.set(rate: rateLimit)
        limitPieces()
    }

    /// Changes the maximum number of connections to one host, at least 1.
    package func set(connectionsPerHost: Int) { hosts.set(limit: connectionsPerHost) }

    /// Discards pooled connections after a change of the network. Running downloads need a
    /// ``DownloadDriver/reconnect()`` afterwards.
    package func renewConnections() {
        transport.renew()
        book.networkChanged()
    }

    /// Reads the system's list of public suffixes if a budget for domains needs it.
    package func readSuffixes() async {
        guard book.wantsSuffixes, !hasSoughtSuffixes.exchange(true, ordering: .relaxed) else { return }
        let list = await files.run { disk in PublicSuffixes.system(disk.fileSystem) }
        if let list { book.use(list) }
    }

    /// Records the piece size of a download's own limit, or removes it.
    package func note(limitOf own: Throttle, isRunning: Bool) {
        pieces.withLock { $0[ObjectIdentifier(own)] = isRunning ? own.sharedPiece : nil }
        limitPieces()
    }

    private func limitPieces() {
        pieces.withLock { pieces in
            transport.limitPieces(to: ([throttle.preferredPiece].compactMap(\.self) + pieces.values).min())
        }
    }

    /// Returns the executor for a download's decisions and small bodies: an event loop, so that the pieces of a small
    /// file arrive without a thread switch; `nil` for Swift's own threads.
    package func loop() -> (any TaskExecutor)? {
        if loops.isEmpty { return nil }
        // A download that ended on this loop has just returned its connection to it.
        if let current = loops.first(where: \.isCurrent) { return current }
        return loops[nextLoop.wrappingAdd(1, ordering: .relaxed).oldValue % loops.count]
    }

    /// Returns the journal index of a directory: read once, kept up to date by this process's downloads, and read
    /// again after many other directories were used. Other processes' journals are added by ``JournalSearch``.
    package func journals(in directory: FilePath, _ disk: Disk) throws(FileError) -> JournalIndex {
        if let known = directories.withLock({ $0[directory] }) { return known }
        let index = try JournalIndex(directory: directory, fileSystem: files.fileSystem(disk))
        return directories.withLock { all in
            if let other = all[directory] { return other }
            all[directory] = index
            return index
        }
    }

    /// Returns the index of a directory if it is in memory; reads nothing.
    func knownJournals(in directory: FilePath) -> JournalIndex? { directories.withLock { $0[directory] } }
}

/// The settings of one download that come from its manager, unless its request has its own.
package struct DriverSettings: Sendable {
    package var stallTimeout = DownloadRequest.standardStallTimeout
    package var maxRetries: Int? = DownloadRequest.standardMaxRetries
    /// The number of retries at a host that refuses every connection, before any byte has come from it; `nil` for ``maxRetries``.
    /// A request with its own `maxRetries` ignores it.
    package var maxFirstRetries: Int?
    /// Whether the first connection that a host refuses fails the download, if no byte has come from the host yet.
    package var failsWhenRefused = false
    package var minFreeBytes: ByteCount?
    package init() {}

    /// The settings for a request.
    package func with(_ request: DownloadRequest) -> DriverSettings {
        var settings = self
        settings.stallTimeout = request.stallTimeout ?? stallTimeout
        settings.maxRetries = request.maxRetries ?? maxRetries
        if request.maxRetries != nil { settings.maxFirstRetries = nil }
        if failsWhenRefused { settings.maxFirstRetries = 0 }
        settings.minFreeBytes = request.minFreeBytes ?? minFreeBytes
        return settings
    }
}

/// Random numbers for back-off and the choice of samples, without a system call for each: SplitMix64, seeded by the system. Not for
/// secrets.
final class Jitter: Sendable {
    private let state = Atomic(UInt64.random(in: 0...UInt64.max))

    /// Returns the next number in 0..<1.
    @Sendable func next() -> Double {
        var bits = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ (bits >> 31)) >> 11) * 0x1p-53
    }
}
