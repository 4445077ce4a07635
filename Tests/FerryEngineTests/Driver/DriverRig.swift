import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// An origin, a directory and an engine for one test; runs of downloads in them.
struct DriverRig: Sendable {
    let server: OriginServer
    let directory: TemporaryDirectory
    let environment: EngineEnvironment

    /// The random source gives 0: a back-off is a tenth of its maximum.
    static func with(
        _ configuration: OriginServer.Configuration = .init(), transfer: TransferSettings = TransferSettings(),
        fileSystem: any FileSystem = LocalFileSystem(), clock: any EngineClock = SystemClock(),
        loops: [EventLoopExecutor] = HTTPTransport.executors, connectionsPerHost: Int = 16,
        _ body: @Sendable (DriverRig) async throws -> Void
    ) async throws {
        try await withOrigin(configuration, settings: transfer) { server, transport in
            let environment = EngineEnvironment(
                transport: transport, fileSystem: fileSystem, clock: clock, loops: loops,
                connectionsPerHost: connectionsPerHost, random: { 0 })
            try await body(DriverRig(server: server, directory: try TemporaryDirectory(), environment: environment))
        }
    }

    func request(_ path: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws -> DownloadRequest {
        var request = DownloadRequest(
            sources: [try server.downloadURL(path)], destination: .directory(directory.path.string))
        change(&request)
        return request
    }

    /// Starts a run; ``Run/end()`` awaits it.
    func start(
        _ request: DownloadRequest, id: String = "a", _ context: RunContext = RunContext(),
        _ change: (inout DriverSettings) -> Void = { _ in }
    ) -> Run {
        var settings = DriverSettings()
        settings.minFreeBytes = 0
        // Tests of stalls set their own timeout; a busy machine is no stall.
        settings.stallTimeout = .seconds(9000)
        change(&settings)
        return Run(id, request, environment, settings, context)
    }

    /// One run from beginning to end.
    func run(
        _ request: DownloadRequest, id: String = "a", _ context: RunContext = RunContext(),
        _ change: (inout DriverSettings) -> Void = { _ in }
    ) async -> Run.End {
        await start(request, id: id, context, change).end()
    }

    /// A run over one connection that the server holds after `bytes` more, paused when `total` are there.
    func interrupt(
        _ path: String, after bytes: Int64, reaching total: Int64? = nil, id: String = "a",
        _ context: RunContext = RunContext(), _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws {
        server.script(path, [.stall(after: bytes)])
        let run = start(
            try request(path) {
                change(&$0)
                $0.maxConnections = 1
            }, id: id, context)
        await run.reach(total ?? bytes)
        run.driver.stop(.pause)
        _ = await run.end()
        server.always(path, .honest)
    }

    func journal(_ name: String) throws -> JournalRecord {
        try Journal.read(at: directory.file(name + ".part.ferry"), fileSystem: LocalFileSystem())
    }

    func holds(_ name: String, _ resource: Resource) -> Bool {
        resource.source.compare(file: directory.file(name).string, size: resource.size) == .equal
    }
}

/// A clock that does not advance; a sleep takes its real duration.
struct FrozenClock: EngineClock {
    func now() -> Duration { .seconds(1000) }
    func date() -> Date { Date() }
    func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration) }
}

/// A run of a download, in progress or ended.
final class Run: Sendable {
    struct End: Sendable {
        var outcome: DownloadDriver.Outcome
        var events: [DownloadEvent.Kind]

        var file: FinishedDownload? { if case .completed(let file) = outcome { file } else { nil } }
        var error: DownloadError? { if case .failed(let error) = outcome { error } else { nil } }
        var isStopped: Bool { if case .stopped = outcome { true } else { false } }
        var resumedAt: ByteCount? {
            for case .resumed(let offset, _, _) in events { return offset }
            return nil
        }
        var retries: [Int] {
            events.compactMap { if case .retrying(let attempt, _, _) = $0 { attempt } else { nil } }
        }
    }

    private struct Heard {
        var events: [DownloadEvent.Kind] = []
        var states: [DownloadState] = []
    }
    let driver: DownloadDriver
    private let heard = Mutex(Heard())
    private let news = AsyncEvent()
    private let task = Mutex<Task<DownloadDriver.Outcome, Never>?>(nil)
    private let relay: Relay

    init(
        _ id: String, _ request: DownloadRequest, _ environment: EngineEnvironment, _ settings: DriverSettings,
        _ context: RunContext
    ) {
        let relay = Relay()
        self.relay = relay
        driver = DownloadDriver(
            id: DownloadID(rawValue: id), request: request, environment: environment, settings: settings,
            context: context
        ) { relay.run.withLock { $0 }?.take($0) }
        relay.run.withLock { [self] in $0 = self }
        // owner: task, awaited in end().
        let task = Task { [driver] in await driver.run() }
        self.task.withLock { $0 = task }
    }

    private final class Relay: Sendable {
        let run = Mutex<Run?>(nil)
    }

    private func take(_ report: DownloadDriver.Report) {
        heard.withLock { heard in
            switch report {
            case .event(let event): heard.events.append(event.kind)
            case .state(let state): heard.states.append(state)
            case .backsOff(let date, _): heard.states.append(.waiting(.retry(at: date)))
            case .held(let date, _): heard.states.append(.waiting(.server(since: nil, until: date)))
            case .named: break
            }
        }
        news.notify()
    }

    var events: [DownloadEvent.Kind] { heard.withLock { $0.events } }

    /// Waits until the driver has reported such a state.
    func said(_ isSuch: (DownloadState) -> Bool) async {
        while true {
            let count = news.count
            if heard.withLock({ $0.states.contains(where: isSuch) }) { return }
            await news.wait(after: count)
        }
    }

    /// Waits until so many bytes are there.
    func reach(_ bytes: ByteCount) async { await until { ($0.progress()?.completedBytes ?? 0) >= bytes } }

    /// Waits until a condition holds; each notification of the driver's updates checks it.
    func until(_ condition: (DownloadDriver) -> Bool) async {
        while true {
            let count = driver.updates.count
            if condition(driver) { return }
            if driver.transfer.isOver {
                Issue.record("the run has ended")
                return
            }
            await driver.updates.wait(after: count)
        }
    }

    /// Waits until the run backs off or has failed; `false` if it has failed.
    func untilRetrying() async -> Bool {
        func isRetrying() -> Bool { events.contains { if case .retrying = $0 { true } else { false } } }
        await until { driver in isRetrying() || driver.transfer.hasFailed }
        return isRetrying()
    }

    func end() async -> End {
        let outcome = await task.withLock { $0 }?.value ?? .stopped
        // Otherwise the driver and this run would keep each other alive.
        relay.run.withLock { $0 = nil }
        return End(outcome: outcome, events: events)
    }
}
