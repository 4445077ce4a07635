import FerryEngine
import Foundation
import Synchronization

/// Who runs and who waits: at most `maxConcurrentDownloads` run, the rest in the order of joining.
///
/// Every run is a task in `running` and is awaited by ``shutdown()``. A download is in at most one of `waiting` and
/// `idle`, and runs at most once at a time: one that joins while its last run is ending waits for that.
/// Locks: a download's own may be taken under this one, never the other way round.
final class Queue: Sendable {
    fileprivate struct State {
        var configuration: DownloadManager.Configuration
        /// Waiting for a slot, in order.
        var waiting: [Download] = []
        var firstWaiting = 0
        var running: [DownloadID: (download: Download, task: Task<Void, Never>)] = [:]
        /// Paused.
        var idle: [DownloadID: Download] = [:]
        /// Being cancelled while they do not run.
        var leaving: Set<DownloadID> = []
        var pulse: Task<Void, Never>?
        var isShutDown = false
    }

    /// What was found when a download was to be stopped.
    private enum Found {
        case running(Task<Void, Never>)
        case waiting
        case elsewhere
    }

    private let state: Mutex<State>
    private let engine: EngineProvider
    private let closed = Atomic(false)
    let hub = EventHub()

    init(configuration: DownloadManager.Configuration, engine: EngineProvider) {
        state = Mutex(State(configuration: configuration))
        self.engine = engine
    }

    var configuration: DownloadManager.Configuration { state.withLock { $0.configuration } }
    /// Nothing begins any more.
    var isShutDown: Bool { state.withLock { $0.isShutDown } }
    /// Everything has ended. Takes no lock: asked under those of downloads.
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    func configure(_ change: (inout DownloadManager.Configuration) -> Void) {
        let configuration = state.withLock { state in
            change(&state.configuration)
            state.configuration.maxConcurrentDownloads = max(1, state.configuration.maxConcurrentDownloads)
            return state.configuration
        }
        engine.setRate(configuration.rateLimit)
        startNext()
    }

    // MARK: What users do

    func add(_ download: Download) {
        send(.added(url: download.request.sources.first?.redacted ?? ""), of: download)
        state.withLock { $0.waiting.append(download) }
        startNext()
    }

    func pause(_ download: Download) async {
        while true {
            switch find(download, leavesQueue: true) {
            case .running(let task):
                download.driver?.stop(.pause)
                await task.value
            case .waiting:
                download.set(state: .paused)
                send(.paused, of: download)
                return
            case .elsewhere: return
            }
        }
    }

    func resume(_ download: Download) {
        let joins = state.withLock { state in
            guard !state.isShutDown, !state.leaving.contains(download.id), !state.isWaiting(download) else {
                return false
            }
            switch download.status.state {
            case .paused, .failed: break
            case .waiting, .downloading, .verifying, .completed, .cancelled: return false
            }
            state.idle[download.id] = nil
            download.prepareToWait()
            state.waiting.append(download)
            return true
        }
        guard joins else { return }
        download.publish()
        startNext()
    }

    func cancel(_ download: Download) async {
        while true {
            switch find(download, leavesQueue: false) {
            case .running(let task):
                download.driver?.stop(.cancel)
                await task.value
                continue
            case .waiting, .elsewhere: break
            }
            let isOurs = state.withLock { state in
                switch download.status.state {
                case .completed, .cancelled: return false
                case .waiting, .downloading, .verifying, .paused, .failed: break
                }
                guard state.running[download.id] == nil else { return true }
                state.drop(download)
                return state.leaving.insert(download.id).inserted
            }
            guard isOurs else { return }
            // It was started between the two looks.
            guard state.withLock({ $0.running[download.id] == nil }) else { continue }
            await engine.discard(download)
            download.set(state: .cancelled)
            send(.cancelled, of: download)
            state.withLock { _ = $0.leaving.remove(download.id) }
            return
        }
    }

    /// Stops everything, keeps what is there, and returns when that is safe.
    func shutdown() async {
        let (running, others, pulse) = state.withLock { state in
            state.isShutDown = true
            defer {
                state.waiting.removeAll()
                state.firstWaiting = 0
                state.idle.removeAll()
            }
            let others = Array(state.waiting[state.firstWaiting...]) + Array(state.idle.values)
            return (Array(state.running.values), others, state.pulse)
        }
        pulse?.cancel()
        for (download, _) in running { download.driver?.stop(.pause) }
        for (_, task) in running { await task.value }
        closed.store(true, ordering: .releasing)
        for download in running.map(\.download) + others { download.wake() }
        await engine.shutdown()
        hub.close()
    }

    /// Where a download is; one that waits leaves the queue, when asked.
    private func find(_ download: Download, leavesQueue: Bool) -> Found {
        state.withLock { state in
            if let task = state.running[download.id]?.task {
                // It may wait for its next run already.
                if leavesQueue, state.isWaiting(download) {
                    state.drop(download)
                    state.idle[download.id] = download
                    return .waiting
                }
                return .running(task)
            }
            guard state.isWaiting(download) else { return .elsewhere }
            if leavesQueue {
                state.drop(download)
                state.idle[download.id] = download
            }
            return .waiting
        }
    }

    // MARK: Slots

    private func startNext() {
        while true {
            let hasStarted: Bool = state.withLock { state in
                guard !state.isShutDown, state.running.count < state.configuration.maxConcurrentDownloads,
                    let download = state.takeNext()
                else { return false }
                let environment = engine.environment(for: state.configuration)
                let driver = DownloadDriver(
                    id: download.id, request: download.request, environment: environment,
                    settings: state.configuration.driverSettings
                ) { [weak self, weak download] report in
                    guard let self, let download else { return }
                    self.take(report, of: download)
                }
                download.set(driver: driver)
                // owner: state.running, awaited in shutdown.
                let task = Task(executorPreference: environment.executor) { await self.run(download, driver) }
                state.running[download.id] = (download, task)
                return true
            }
            if !hasStarted { return }
            startPulse()
        }
    }

    private func run(_ download: Download, _ driver: DownloadDriver) async {
        let outcome = await driver.run()
        switch outcome {
        case .completed(let finished):
            download.set(state: .completed(finished.proof), finished: finished, isEnd: true)
            send(.completed(finished), of: download)
        case .failed(let error):
            download.set(state: .failed(error), isEnd: true)
            send(.failed(error), of: download)
        case .stopped:
            state.withLock { $0.idle[download.id] = download }
            download.set(state: .paused, isEnd: true)
            send(.paused, of: download)
        case .cancelled:
            download.set(state: .cancelled, isEnd: true)
            send(.cancelled, of: download)
        }
        state.withLock { $0.running[download.id] = nil }
        startNext()
    }

    private func take(_ report: DownloadDriver.Report, of download: Download) {
        switch report {
        case .event(let kind): send(kind, of: download)
        case .state(let new): download.set(state: new)
        case .named(let name, let path): download.set(name: name, path: path)
        }
    }

    private func send(_ kind: DownloadEvent.Kind, of download: Download) {
        hub.send(DownloadEvent(id: download.id, date: Date(), kind: kind))
    }

    // MARK: Progress

    /// Hands progress to observers ten times a second, while something runs or somebody observes.
    func startPulse() {
        state.withLock { state in
            guard state.pulse == nil, !state.isShutDown else { return }
            // owner: state.pulse, cancelled in shutdown; it ends by itself when nobody observes.
            state.pulse = Task { [weak self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(100))
                    guard let self, self.beat() else { return }
                }
            }
        }
    }

    private func beat() -> Bool {
        let running = state.withLock { $0.running.values.map(\.download) }
        var isObserved = false
        for download in running where download.publish() { isObserved = true }
        return state.withLock { state in
            if !isObserved && state.running.isEmpty && state.firstWaiting >= state.waiting.count {
                state.pulse = nil
                return false
            }
            return true
        }
    }
}

extension Queue.State {
    fileprivate func isWaiting(_ download: Download) -> Bool {
        waiting[firstWaiting...].contains { $0 === download }
    }

    /// Takes a download out of the queue and of what is paused.
    fileprivate mutating func drop(_ download: Download) {
        waiting.removeSubrange(0..<firstWaiting)
        firstWaiting = 0
        waiting.removeAll { $0 === download }
        idle[download.id] = nil
    }

    /// The first that waits and whose last run has ended.
    fileprivate mutating func takeNext() -> Download? {
        guard let index = waiting[firstWaiting...].firstIndex(where: { running[$0.id] == nil }) else { return nil }
        let download = waiting[index]
        guard index == firstWaiting else {
            waiting.remove(at: index)
            return download
        }
        firstWaiting += 1
        if firstWaiting > 512 {
            waiting.removeSubrange(0..<firstWaiting)
            firstWaiting = 0
        }
        return download
    }
}

extension DownloadManager.Configuration {
    fileprivate var driverSettings: DriverSettings {
        var settings = DriverSettings()
        settings.stallTimeout = stallTimeout
        settings.connectTimeout = transfer.connectTimeout
        settings.maxAttempts = maxAttempts
        settings.minFreeBytes = minFreeBytes
        return settings
    }
}
