import Ferry
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Uploads the files of a directory for `ferry sync`: shows their progress, reports each end, and reacts to signals, as
/// ``GetRun`` does for downloads.
final class UploadRun: Sendable {
    /// A file that is being uploaded.
    private struct Running {
        let id = DownloadID.make()
        let path: String
        let number: Int
        let totalBytes: ByteCount
        let startedAt: Duration
        var sentBytes: ByteCount = 0
        var meter: SpeedMeter
    }

    private struct State {
        var ledger = Ledger()
        /// By the bytes of the path: canonically equivalent names are different files.
        var running: [[UInt8]: Running] = [:]
        var begunCount = 0
        /// The bytes that were sent, including those of files that have failed.
        var sentBytes: ByteCount = 0
    }

    private let sync: SetSync
    private let plan: GetPlan
    private let reporter: any RunReporting
    private let totalBytes: ByteCount
    private let start = ContinuousClock.now
    private let state = Mutex(State())
    /// Finishes when a signal stops the run.
    private let stopped: AsyncStream<Never>
    private let stopNow: AsyncStream<Never>.Continuation

    init(_ sync: SetSync, _ plan: GetPlan, reporter: any RunReporting) {
        (self.sync, self.plan, self.reporter) = (sync, plan, reporter)
        totalBytes = sync.uploads.lazy.map(\.totalBytes).sum
        (stopped, stopNow) = AsyncStream.makeStream()
        state.withLock { $0.ledger.expectedCount = sync.uploads.count }
    }

    private var elapsed: Duration { ContinuousClock.now - start }

    private var isStopping: Bool { state.withLock { $0.ledger.interruption != nil } }

    /// Runs until all files have ended or a signal stops the run.
    ///
    /// - Parameters:
    ///   - signals: SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT as they arrive.
    ///   - willLeave: Called at the first stopping signal, for example to limit the time of the shutdown.
    func run(signals: AsyncStream<Int32>, willLeave: @escaping @Sendable (ExitCode) -> Void) async -> ExitCode {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow(signals, willLeave) }
            // Ends the reports before the summary: a frame after it would stay on the screen.
            await withTaskGroup(of: Void.self) { reports in
                reports.addTask { await self.report() }
                await store()
                reports.cancelAll()
            }
            reporter.clear()
            let (ledger, sentBytes) = state.withLock { ($0.ledger, $0.sentBytes) }
            if ledger.interruption == nil {
                reporter.summary(ledger.whole([]), receivedBytes: sentBytes, elapsed: elapsed)
            }
            await reporter.drained()
            group.cancelAll()
        }
        return state.withLock { $0.ledger.exitCode }
    }

    /// Uploads the files until all have ended or the run is stopped.
    private func store() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sync.upload { self.happened($0, $1) } }
            group.addTask { for await _ in self.stopped {} }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Events

    private func happened(_ upload: SetUpload, _ event: SetUploadEvent) {
        let now = elapsed
        switch event {
        case .begun:
            let id = state.withLock { state in
                state.begunCount += 1
                let running = Running(
                    path: upload.path, number: state.begunCount, totalBytes: upload.totalBytes, startedAt: now,
                    meter: SpeedMeter(startingAt: now))
                state.running[Array(upload.path.utf8)] = running
                return running.id
            }
            reporter.began(id)
        case .sent(let count):
            state.withLock { state in
                state.sentBytes = state.sentBytes.adding(count)
                guard var running = state.running[Array(upload.path.utf8)] else { return }
                running.sentBytes = running.sentBytes.adding(count)
                running.meter.record(count, at: now)
                state.running[Array(upload.path.utf8)] = running
            }
        case .note(let reason):
            guard let id = state.withLock({ $0.running[Array(upload.path.utf8)]?.id }) else { return }
            let note = DownloadEvent(
                id: id, date: Date(), kind: .note("\(reason)"), number: nil, reason: reason, onAcknowledge: nil)
            reporter.happened(note, name: upload.path)
        case .stored(let file): stored(file, upload, at: now)
        case .failed(let error):
            let running = state.withLock { $0.running.removeValue(forKey: Array(upload.path.utf8)) }
            // The next run resumes the uploads that a stop has ended.
            guard !isStopping else { return }
            state.withLock { $0.ledger.countFailed(error) }
            reporter.failed(
                SetAdvice.advised(error), id: running?.id, name: upload.path, command: nil, date: Date())
        }
    }

    private func stored(_ file: FinishedDownload, _ upload: SetUpload, at now: Duration) {
        let (running, isOneOfFew) = state.withLock { state in
            state.ledger.countFinished(file)
            let running = state.running.removeValue(forKey: Array(upload.path.utf8))
            return (running, state.ledger.expectedCount <= PlainProgress.fewFiles)
        }
        // For a set, only new files are reported.
        guard let running, !file.wasAlreadyComplete || plan.output.result == .json else { return }
        reporter.completed(
            file, event: DownloadEvent(id: running.id, date: Date(), kind: .completed(file)),
            name: Paths.name(of: upload.path), elapsed: now - running.startedAt, isOneOfFew: isOneOfFew)
    }

    // MARK: Time and signals

    private func report() async {
        guard let interval = reporter.interval else { return }
        while (try? await Task.sleep(for: interval)) != nil {
            let now = elapsed
            let (running, ledger) = state.withLock { ($0.running, $0.ledger) }
            let open = running.sorted { $0.value.number < $1.value.number }.map {
                status(of: $0.value, at: now)
            }
            var whole = ledger.whole(open)
            whole.totalBytes = max(totalBytes, whole.completedBytes)
            reporter.tick(open, whole: whole, elapsed: now, date: Date())
        }
    }

    private func status(of running: Running, at now: Duration) -> DownloadStatus {
        let total = running.totalBytes
        // Bytes that were sent again count once.
        let sent = min(running.sentBytes, total)
        let speed = running.meter.bytesPerSecond(at: now)
        let left: Duration? = speed > 0 ? .seconds(Double(total - sent) / speed) : nil
        return DownloadStatus(
            id: running.id, state: .downloading,
            progress: DownloadProgress(
                completedBytes: sent, totalBytes: total, bytesPerSecond: speed, timeRemaining: left, connections: 1),
            name: running.path)
    }

    private func follow(_ signals: AsyncStream<Int32>, _ willLeave: (ExitCode) -> Void) async {
        // The SIGCONT that ends the program's own suspension arrives when the bars are drawn again, and is ignored.
        var isOwn = false
        for await signal in signals {
            switch signal {
            case SignalWatch.suspending:
                reporter.suspend()
                await reporter.drained()
                SignalWatch.suspend()
                reporter.continued()
                isOwn = true
            case SignalWatch.continuing:
                if !isOwn { reporter.continued() }
                isOwn = false
            default:
                let code = SignalWatch.exitCode(signal)
                state.withLock { $0.ledger.interruption = code }
                willLeave(code)
                reporter.clear()
                reporter.message(("stopping; run the same command again to resume" as Reason).shown)
                stopNow.finish()
            }
        }
    }
}
