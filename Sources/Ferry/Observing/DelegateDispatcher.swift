package import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Calls the methods of a delegate serially on the main actor.
///
/// Delivers every end of a download, however slow the delegate is. Of the progress of each download, only the latest value is
/// kept. Acknowledges a numbered event once its method has returned.
package final class DelegateDispatcher: Sendable {
    /// One method call. Tasks that the method creates inherit it and may outlive the call.
    final class Call: Sendable {
        fileprivate let dispatcher: ObjectIdentifier
        /// The event that is delivered; `nil` for progress.
        fileprivate let event: DownloadEvent?
        private let over = Atomic(false)
        fileprivate var isOver: Bool { over.load(ordering: .acquiring) }

        fileprivate init(of item: EventMailbox.Item, by dispatcher: DelegateDispatcher) {
            self.dispatcher = ObjectIdentifier(dispatcher)
            event = if case .event(let event) = item { event } else { nil }
        }

        fileprivate func end() { over.store(true, ordering: .releasing) }
    }

    /// The call that the current task is part of.
    @TaskLocal static var current: Call?

    private weak let manager: DownloadManager?
    weak let delegate: (any DownloadManagerDelegate)?
    private let place: EventHub.Place
    private let progress = Mutex<[DownloadID: DownloadProgress]>([:])
    /// Downloads whose start has been delivered and whose end has not; only these report progress.
    private let moving: Mutex<Set<DownloadID>>
    private let task: Mutex<Task<Void, Never>?>
    /// Notifies when no more calls follow.
    private let ended = AsyncEvent()

    init(
        _ delegate: any DownloadManagerDelegate, of manager: DownloadManager, _ place: EventHub.Place,
        moving: Set<DownloadID>
    ) {
        self.delegate = delegate
        self.manager = manager
        self.place = place
        self.moving = Mutex(moving)
        task = Mutex(nil)
    }

    /// Starts the delivery of events.
    func start() {
        task.withLock { task in
            // owner: task, cancelled in stop; while idle it retains only the mailbox.
            task = Task { [weak self, weak place = self.place, mailbox = self.place.mailbox, ended] in
                while let item = await mailbox.next() { guard await Self.call(item, by: self) else { break } }
                // The manager may outlive the delegate, so stop collecting events.
                place?.leave()
                mailbox.abandon()
                ended.notify()
            }
        }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// Stops the delivery of events after the method that is currently running.
    func stop() { task.withLock { $0 }?.cancel() }

    /// Returns once all events so far have been delivered; no further call is made.
    ///
    /// Returns at once if called from inside a delegate method: later events are delivered after that method, and its own event
    /// is acknowledged.
    func finish() async {
        if acknowledgeCurrentCall() { return }
        place.close()
        await ended.wait(after: 0)
    }

    /// If called from inside a delegate method, acknowledges its event and returns true.
    @discardableResult
    func acknowledgeCurrentCall() -> Bool {
        guard let call = Self.current, call.dispatcher == ObjectIdentifier(self), !call.isOver else { return false }
        call.event?.acknowledge()
        return true
    }

    /// Stores the latest progress of a download for delivery.
    package func report(_ now: DownloadProgress, of id: DownloadID) {
        guard delegate != nil else { return }
        let isNew = progress.withLock { $0.updateValue(now, forKey: id) == nil }
        if isNew { place.mailbox.put(.progress(id)) }
    }

    /// Returns false if the manager or the delegate has been released.
    private static func call(_ item: EventMailbox.Item, by dispatcher: DelegateDispatcher?) async -> Bool {
        guard !Task.isCancelled, let dispatcher, let manager = dispatcher.manager, let delegate = dispatcher.delegate
        else { return false }
        let call = Call(of: item, by: dispatcher)
        await Self.$current.withValue(call) { await dispatcher.call(item, delegate, manager, as: call) }
        return true
    }

    @MainActor private func call(
        _ item: EventMailbox.Item, _ delegate: any DownloadManagerDelegate, _ manager: DownloadManager, as call: Call
    ) async {
        // Ends the call on the main actor when the method has returned, before other work that the method has scheduled there.
        defer { call.end() }
        if Task.isCancelled { return }
        switch item {
        case .event(let event):
            note(event)
            let wasTold = await tell(event, delegate, manager)
            if wasTold, !Task.isCancelled { event.acknowledge() }
        case .upToDate: await delegate.downloadManagerDidFinishEvents(manager)
        case .progress(let id):
            guard let now = progress.withLock({ $0.removeValue(forKey: id) }),
                moving.withLock({ $0.contains(id) }), let live = manager.backend.known(id)
            else { return }
            await delegate.downloadManager(manager, download: manager.handle(live), didMakeProgress: now)
        }
    }

    private func note(_ event: DownloadEvent) {
        switch event.kind {
        case .started, .resumed: moving.withLock { _ = $0.insert(event.id) }
        case .paused, .completed, .failed, .cancelled: moving.withLock { _ = $0.remove(event.id) }
        case .added, .retrying, .restarted, .waiting, .note: break
        }
    }

    /// Returns false if the list cannot be read; the event then remains unacknowledged and is delivered again later.
    @MainActor private func tell(
        _ event: DownloadEvent, _ delegate: any DownloadManagerDelegate, _ manager: DownloadManager
    ) async -> Bool {
        let found: Download?
        do throws(DownloadError) { found = try await manager.handle(for: event) } catch { return false }
        // The download has left the list, and this event is not an end.
        guard let download = found else { return true }
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
            await delegate.downloadManager(manager, download: download, didComplete: download.live.located(finished))
        case .failed(let error): await delegate.downloadManager(manager, download: download, didFail: error)
        case .cancelled: await delegate.downloadManager(manager, didCancel: download)
        case .retrying(_, let delay, _):
            let date = manager.backend.clock.date().addingTimeInterval(delay.seconds)
            await delegate.downloadManager(manager, download: download, isWaitingFor: .retry(at: date))
        case .added, .restarted, .note: break
        }
        return true
    }
}
