import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Calls a delegate, one method after the other, on one actor.
///
/// Events wait without bound, so that none is lost; of progress only the latest of each download waits. An event with
/// a number is acknowledged once its method has returned.
final class DelegateDispatcher: Sendable {
    private weak let manager: DownloadManager?
    weak let delegate: (any DownloadManagerDelegate)?
    private let place: EventHub.Place
    private let progress = Mutex<[DownloadID: DownloadProgress]>([:])
    private let task: Mutex<Task<Void, Never>?>

    init(_ delegate: any DownloadManagerDelegate, of manager: DownloadManager, _ place: EventHub.Place) {
        self.delegate = delegate
        self.manager = manager
        self.place = place
        task = Mutex(nil)
    }

    /// Begins to call.
    func start(on actor: any Actor) {
        task.withLock { task in
            // owner: task, cancelled in stop; it holds the mailbox alone.
            task = Task { [weak self, mailbox = place.mailbox] in
                await Self.call(mailbox, self: { [weak self] in self }, on: actor)
            }
        }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// Calls nothing more after the method that is under way.
    func stop() { task.withLock { $0 }?.cancel() }

    /// The latest progress of a download; told when the delegate gets to it.
    func report(_ now: DownloadProgress, of id: DownloadID) {
        let isNew = progress.withLock { $0.updateValue(now, forKey: id) == nil }
        if isNew { place.mailbox.put(.progress(id)) }
    }

    private static func call(
        _ mailbox: EventMailbox, self dispatcher: @Sendable () -> DelegateDispatcher?, on actor: isolated any Actor
    ) async {
        while let item = await mailbox.next() {
            guard !Task.isCancelled, let dispatcher = dispatcher(), let manager = dispatcher.manager,
                let delegate = dispatcher.delegate
            else { return }
            switch item {
            case .event(let event):
                await dispatcher.tell(event, delegate, manager)
                if !Task.isCancelled { event.acknowledge() }
            case .upToDate: await delegate.downloadManagerDidFinishEvents(manager)
            case .progress(let id):
                guard let now = dispatcher.progress.withLock({ $0.removeValue(forKey: id) }),
                    let live = manager.scheduler.known(id)
                else { continue }
                await delegate.downloadManager(manager, download: manager.handle(live), didMakeProgress: now)
            }
        }
    }

    private func tell(
        _ event: DownloadEvent, _ delegate: any DownloadManagerDelegate, _ manager: DownloadManager
    ) async {
        guard let download = await manager.handle(for: event) else { return }
        switch event.kind {
        case .started(let name, let total):
            await delegate.downloadManager(manager, download: download, didStart: name, totalBytes: total)
        case .resumed(let offset, let total, let reason):
            await delegate.downloadManager(
                manager, download: download, didResumeAtOffset: offset, totalBytes: total, reason: reason)
        case .waiting(let reason, _):
            await delegate.downloadManager(manager, download: download, isWaitingFor: reason)
        case .paused: await delegate.downloadManager(manager, didPause: download)
        case .completed(let finished):
            await delegate.downloadManager(manager, download: download, didComplete: finished)
        case .failed(let error): await delegate.downloadManager(manager, download: download, didFail: error)
        case .cancelled: await delegate.downloadManager(manager, didCancel: download)
        case .retrying(_, let delay, _):
            let date = manager.scheduler.clock.date().addingTimeInterval(delay.seconds)
            await delegate.downloadManager(manager, download: download, isWaitingFor: .retry(at: date))
        case .added, .restarted, .note: break
        }
    }
}
