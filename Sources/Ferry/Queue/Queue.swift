import FerryEngine
import Foundation
import Synchronization

/// Who runs and who waits: at most `maxConcurrentDownloads` run, the rest in the order of joining.
///
/// Every run is a task in `running` and is awaited by ``shutdown()``.
final class Queue: Sendable {
    private struct State {
        var configuration: DownloadManager.Configuration
        /// Waiting for a slot, in order.
        var waiting: [Download] = []
        var firstWaiting = 0
        var running: [DownloadID: (download: Download, task: Task<Void, Never>)] = [:]
        var pulse: Task<Void, Never>?
        var isShutDown = false
    }

    private let state: Mutex<State>
    private let engine: EngineProvider
    let hub = EventHub()

    init(configuration: DownloadManager.Configuration, engine: EngineProvider) {
        state = Mutex(State(configuration: configuration))
        self.engine = engine
    }

    var configuration: DownloadManager.Configuration { state.withLock { $0.configuration } }
    var isShutDown: Bool { state.withLock { $0.isShutDown } }

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
        join(download)
    }

    func pause(_ download: Download) async {
        switch download.status.state {
        case .waiting, .downloading, .verifying: break
        case .paused, .failed, .completed, .cancelled: return
        }
        if let task = stopRunning(download, .pause) {
            await task.value
            return
        }
        leave(download)
        download.set(state: .paused)
        send(.paused, of: download)
    }

    func resume(_ download: Download) {
        switch download.status.state {
        case .paused, .failed: join(download)
        case .waiting, .downloading, .verifying, .completed, .cancelled: return
        }
    }

    func cancel(_ download: Download) async {
        switch download.status.state {
        case .completed, .cancelled: return
        case .waiting, .downloading, .verifying, .paused, .failed: break
        }
        if let task = stopRunning(download, .cancel) {
            await task.value
            return
        }
        leave(download)
        await engine.discard(download)
        download.set(state: .cancelled)
        send(.cancelled, of: download)
    }

    /// Stops everything, keeps what is there, and returns when that is safe.
    func shutdown() async {
        let (running, waiting, pulse) = state.withLock { state in
            state.isShutDown = true
            defer {
                state.waiting.removeAll()
                state.firstWaiting = 0
            }
            return (Array(state.running.values), Array(state.waiting[state.firstWaiting...]), state.pulse)
        }
        pulse?.cancel()
        for (download, _) in running { download.driver?.stop(.pause) }
        for (_, task) in running { await task.value }
        for (download, _) in running { download.wake() }
        for download in waiting { download.wake() }
        await engine.shutdown()
        hub.close()
    }

    // MARK: Slots

    private func join(_ download: Download) {
        download.set(state: .waiting(.slot))
        state.withLock { $0.waiting.append(download) }
        startNext()
    }

    private func leave(_ download: Download) {
        state.withLock { state in
            state.waiting.removeSubrange(0..<state.firstWaiting)
            state.firstWaiting = 0
            state.waiting.removeAll { $0 === download }
        }
    }

    private func stopRunning(_ download: Download, _ stop: DownloadDriver.Stop) -> Task<Void, Never>? {
        guard let task = state.withLock({ $0.running[download.id]?.task }) else { return nil }
        download.driver?.stop(stop)
        return task
    }

    private func startNext() {
        while true {
            let started: Bool = state.withLock { state in
                guard !state.isShutDown, state.running.count < state.configuration.maxConcurrentDownloads,
                    state.firstWaiting < state.waiting.count
                else { return false }
                let download = state.waiting[state.firstWaiting]
                state.firstWaiting += 1
                if state.firstWaiting > 512 {
                    state.waiting.removeSubrange(0..<state.firstWaiting)
                    state.firstWaiting = 0
                }
                let environment = engine.environment(for: state.configuration)
                var settings = DriverSettings()
                settings.stallTimeout = state.configuration.stallTimeout
                settings.connectTimeout = state.configuration.transfer.connectTimeout
                settings.maxAttempts = state.configuration.maxAttempts
                settings.minFreeBytes = state.configuration.minFreeBytes
                let driver = DownloadDriver(
                    id: download.id, request: download.request, environment: environment, settings: settings
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
            if !started { return }
        }
    }

    private func run(_ download: Download, _ driver: DownloadDriver) async {
        download.set(state: .downloading)
        let outcome = await driver.run()
        switch outcome {
        case .completed(let finished):
            download.set(state: .completed(finished.proof), finished: finished)
            send(.completed(finished), of: download)
        case .failed(let error):
            download.set(state: .failed(error))
            send(.failed(error), of: download)
        case .stopped:
            download.set(state: .paused)
            send(.paused, of: download)
        case .cancelled:
            download.set(state: .cancelled)
            send(.cancelled, of: download)
        }
        download.set(driver: nil)
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

    /// Hands progress to observers ten times a second, while something runs and somebody observes.
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
