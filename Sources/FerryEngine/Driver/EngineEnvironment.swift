package import FerryCore
import Synchronization
package import SystemPackage

/// What all downloads of one manager share.
package final class EngineEnvironment: Sendable {
    package let transport: any Transport
    package let fileSystem: any FileSystem
    package let clock: any EngineClock
    /// Numbers in 0..<1.
    package let random: @Sendable () -> Double
    package let pool: BlockingPool
    /// Where blocking file calls and large bodies run; `nil` for Swift's own threads.
    package let executor: TransferExecutor?
    let metronome: Ticker
    private let loops: [EventLoopExecutor]
    private let nextLoop = Atomic(0)
    /// The limit over all downloads.
    package let throttle: Throttle
    /// Who may connect to a host, over all downloads.
    package let hosts: ConnectionLimiter
    /// The limits of downloads that run, as pieces.
    private let pieces = Mutex<[ObjectIdentifier: Int]>([:])
    private let directories = Mutex(RecentValues<FilePath, JournalIndex>(capacity: EngineEnvironment.mostDirectories))
    /// The most directories whose journals are kept in memory; one that is used again after more others is read again.
    static let mostDirectories = 64

    package init(
        transport: any Transport, fileSystem: any FileSystem = LocalFileSystem(),
        clock: any EngineClock = SystemClock(), pool: BlockingPool, executor: TransferExecutor?,
        loops: [EventLoopExecutor] = [], throttle: Throttle? = nil, connectionsPerHost: Int = 16,
        random: @escaping @Sendable () -> Double = Jitter().next
    ) {
        self.transport = transport
        self.fileSystem = fileSystem
        self.clock = clock
        self.random = random
        self.pool = pool
        self.executor = executor
        self.loops = loops
        metronome = Ticker(
            clock: clock, interval: TransferMachine.tickInterval, executor: loops.first ?? executor)
        self.throttle = throttle ?? Throttle(rate: nil, clock: clock)
        hosts = ConnectionLimiter(limit: connectionsPerHost)
        limitPieces()
    }

    /// Changes the limit over all downloads at once, in bytes per second; `nil` for none.
    package func set(rateLimit: ByteCount?) {
        throttle.set(rate: rateLimit)
        limitPieces()
    }

    /// Changes the most connections to one host at once; at least 1.
    package func set(connectionsPerHost: Int) { hosts.set(limit: connectionsPerHost) }

    /// The network is another one: connections that are kept are not used again. Then each download that uses it is to
    /// ``DownloadDriver/reconnect()``.
    package func renewConnections() { transport.renew() }

    /// A download's own limit, or that it has none any more.
    package func note(limitOf own: Throttle, isRunning: Bool) {
        // Smaller pieces would slow the others down for little.
        pieces.withLock { $0[ObjectIdentifier(own)] = isRunning ? own.preferredPiece.map { max($0, 64 << 10) } : nil }
        limitPieces()
    }

    private func limitPieces() {
        pieces.withLock { pieces in
            transport.limitPieces(to: ([throttle.preferredPiece].compactMap(\.self) + pieces.values).min())
        }
    }

    /// Where a download's own decisions and small bodies run: on an event loop, beside its connections, so that a small
    /// file is fetched without a change of thread.
    package func light() -> (any TaskExecutor)? {
        if loops.isEmpty { return executor }
        // One that ends has just given its connection back here.
        if let current = loops.first(where: \.isCurrent) { return current }
        return loops[nextLoop.wrappingAdd(1, ordering: .relaxed).oldValue % loops.count]
    }

    /// The file system, held to a directory; to none with `nil`.
    package func fileSystem(within root: String?) -> any FileSystem {
        root.map { fileSystem.confined(to: FilePath($0)) } ?? fileSystem
    }

    /// The journals of a directory: read once, kept up to date by our own downloads, and read again when many other
    /// directories were used since.
    package func journals(in directory: FilePath) throws(FileError) -> JournalIndex {
        if let known = directories.withLock({ $0[directory] }) { return known }
        let index = try JournalIndex(directory: directory, fileSystem: fileSystem)
        return directories.withLock { all in
            if let other = all[directory] { return other }
            all[directory] = index
            return index
        }
    }

    /// The same index when it was read already; nothing is read for it.
    func knownJournals(in directory: FilePath) -> JournalIndex? { directories.withLock { $0[directory] } }
}

/// The rules that one download runs under, from its manager.
package struct DriverSettings: Sendable {
    package var stallTimeout: Duration = .seconds(60)
    package var connectTimeout: Duration = .seconds(15)
    package var maxAttempts: Int? = 10
    package var minFreeBytes: ByteCount = 256_000_000
    package init() {}
}
