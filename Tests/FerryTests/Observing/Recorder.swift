import FerryCore
import Synchronization

@testable import Ferry
@testable import FerryEngine

/// A delegate that records its calls, their actor, and whether one was made before another had returned.
nonisolated final class Recorder: DownloadManagerDelegate {
    enum Call: Sendable, Hashable {
        case started, resumed, progress, waiting, paused, completed, failed, cancelled
        case allTold
    }
    struct Entry: Sendable, Hashable {
        var id: DownloadID?
        var call: Call
    }
    private struct State {
        var entries: [Entry] = []
        var files: [FinishedDownload] = []
        var inside = 0
        var overlaps = 0
        var strangers = 0
    }
    private let state = Mutex(State())
    private let updates = AsyncEvent()
    private let door: @Sendable (Call) async -> Void
    private let gone: Door?

    /// `door` delays calls; `gone` opens at the release.
    init(gone: Door? = nil, door: @escaping @Sendable (Call) async -> Void = { _ in }) {
        self.gone = gone
        self.door = door
    }

    deinit { gone?.open() }

    var entries: [Entry] { state.withLock { $0.entries } }
    /// The files of the reported completions.
    var files: [FinishedDownload] { state.withLock { $0.files } }
    /// The number of calls made before the previous one had returned.
    var overlaps: Int { state.withLock { $0.overlaps } }
    /// The number of calls elsewhere than on the main actor.
    var strangers: Int { state.withLock { $0.strangers } }

    /// The calls about one download.
    func calls(of id: DownloadID) -> [Call] { entries.filter { $0.id == id }.map(\.call) }

    /// The same without progress.
    func milestones(of id: DownloadID) -> [Call] { calls(of: id).filter { $0 != .progress } }

    /// Whether progress was reported only between a start and the end that follows.
    func isInOrder(_ id: DownloadID) -> Bool {
        var isMoving = false
        for call in calls(of: id) {
            switch call {
            case .started, .resumed: isMoving = true
            case .progress: if !isMoving { return false }
            case .paused, .completed, .failed, .cancelled: isMoving = false
            case .waiting, .allTold: break
            }
        }
        return true
    }

    /// Waits until the calls meet the condition.
    func reach(_ isSuch: ([Entry]) -> Bool) async {
        while !Task.isCancelled {
            let seen = updates.count
            if isSuch(entries) { return }
            await updates.wait(after: seen)
        }
    }

    func reach(_ call: Call) async { await reach { $0.contains { $0.call == call } } }

    private func note(_ call: Call, _ download: Download?, on caller: (any Actor)?) async {
        state.withLock { state in
            state.entries.append(Entry(id: download?.id, call: call))
            state.inside += 1
            if state.inside > 1 { state.overlaps += 1 }
            if caller !== MainActor.shared { state.strangers += 1 }
        }
        updates.notify()
        await Task.yield()
        await door(call)
        state.withLock { $0.inside -= 1 }
    }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didStart name: String, totalBytes: ByteCount?
    ) async { await note(.started, download, on: #isolation) }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didResumeAtOffset offset: ByteCount, totalBytes: ByteCount?,
        reason: String
    ) async { await note(.resumed, download, on: #isolation) }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didMakeProgress progress: DownloadProgress
    ) async { await note(.progress, download, on: #isolation) }

    func downloadManager(_ manager: DownloadManager, download: Download, isWaitingFor reason: WaitReason) async {
        await note(.waiting, download, on: #isolation)
    }

    func downloadManager(_ manager: DownloadManager, didPause download: Download) async {
        await note(.paused, download, on: #isolation)
    }

    func downloadManager(
        _ manager: DownloadManager, download: Download, didComplete finished: FinishedDownload
    ) async {
        state.withLock { $0.files.append(finished) }
        await note(.completed, download, on: #isolation)
    }

    func downloadManager(_ manager: DownloadManager, download: Download, didFail error: DownloadError) async {
        await note(.failed, download, on: #isolation)
    }

    func downloadManager(_ manager: DownloadManager, didCancel download: Download) async {
        await note(.cancelled, download, on: #isolation)
    }

    func downloadManagerDidFinishEvents(_ manager: DownloadManager) async { await note(.allTold, nil, on: #isolation) }
}
