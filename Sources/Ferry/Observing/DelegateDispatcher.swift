import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Calls a delegate, one method after the other, on one actor.
///
/// No end of a download is lost, however long the delegate takes; of progress only the latest of each download waits. An event with
/// a number is acknowledged once its method has returned.
final class DelegateDispatcher: Sendable {
    /// One call of a method. The tasks that the method begins know of it too, and may go on when it has returned.
    final class Call: Sendable {
        fileprivate let dispatcher: ObjectIdentifier
        /// What it tells, unless it is progress.
        fileprivate let event: DownloadEvent?
        private let over = Atomic(false)
        fileprivate var isOver: Bool { over.load(ordering: .acquiring) }

        fileprivate init(of item: EventMailbox.Item, by dispatcher: DelegateDispatcher) {
            self.dispatcher = ObjectIdentifier(dispatcher)
            event = if case .event(let event) = item { event } else { nil }
        }

        fileprivate func end() { over.store(true, ordering: .releasing) }
    }

    /// The call that this task is part of.
    @TaskLocal static var current: Call?

    private weak let manager: DownloadManager?
    weak let delegate: (any DownloadManagerDelegate)?
    private let place: EventHub.Place
    /// Where it is called; `nil` when that is the delegate itself, which is held weakly.
    private let actor: (any Actor)?
    private let progress = Mutex<[DownloadID: DownloadProgress]>([:])
    /// Those whose beginning was told and whose end was not: only of them progress is told.
    private let moving: Mutex<Set<DownloadID>>
    private let task: Mutex<Task<Void, Never>?>
    /// Rings when nothing is called any more.
    private let ended = AsyncEvent()

    init(
        _ delegate: any DownloadManagerDelegate, of manager: DownloadManager, _ place: EventHub.Place,
        moving: Set<DownloadID>, on actor: any Actor
    ) {
        self.delegate = delegate
        self.manager = manager
        self.place = place
        self.moving = Mutex(moving)
        self.actor = actor === delegate ? nil : actor
        task = Mutex(nil)
    }

    /// Begins to call.
    func start() {
        task.withLock { task in
            // owner: task, cancelled in stop; while nothing is to be told it holds the mailbox alone.
            task = Task { [weak self, weak place = self.place, mailbox = self.place.mailbox, ended] in
                while let item = await mailbox.next() { guard await Self.call(item, by: self) else { break } }
                // The manager keeps this also when the delegate has gone: nothing is gathered for nobody.
                place?.leave()
                mailbox.abandon()
                ended.notify()
            }
        }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// Calls nothing more after the method that is under way.
    func stop() { task.withLock { $0 }?.cancel() }

    /// Returns once the delegate was told all that has happened by now; it is told nothing after that.
    ///
    /// At once for who asks from inside a method: what waits is told after that one, whose event is handled thereby.
    func finish() async {
        if let call = Self.current, call.dispatcher == ObjectIdentifier(self), !call.isOver {
            call.event?.acknowledge()
            return
        }
        place.close()
        await ended.wait(after: 0)
    }

    /// The latest progress of a download; told when the delegate gets to it.
    func report(_ now: DownloadProgress, of id: DownloadID) {
        guard delegate != nil else { return }
        let isNew = progress.withLock { $0.updateValue(now, forKey: id) == nil }
        if isNew { place.mailbox.put(.progress(id)) }
    }

    /// False when nobody is there to be called any more.
    private static func call(_ item: EventMailbox.Item, by dispatcher: DelegateDispatcher?) async -> Bool {
        guard !Task.isCancelled, let dispatcher, let manager = dispatcher.manager, let delegate = dispatcher.delegate,
            let actor = dispatcher.actor ?? (delegate as? any Actor)
        else { return false }
        let call = Call(of: item, by: dispatcher)
        await Self.$current.withValue(call) { await dispatcher.call(item, delegate, manager, on: actor, as: call) }
        return true
    }

    private func call(
        _ item: EventMailbox.Item, _ delegate: any DownloadManagerDelegate, _ manager: DownloadManager,
        on actor: isolated any Actor, as call: Call
    ) async {
        // Here, where the method has returned: what it has left to do on this actor comes after.
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

    /// False when the list cannot be asked: the event is told again then, another time.
    private func tell(
        _ event: DownloadEvent, _ delegate: any DownloadManagerDelegate, _ manager: DownloadManager
    ) async -> Bool {
        let found: Download?
        do throws(DownloadError) { found = try await manager.handle(for: event) } catch { return false }
        // It has left the list: nobody wants to know how it went on there.
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
            let date = manager.backend.date().addingTimeInterval(delay.seconds)
            await delegate.downloadManager(manager, download: download, isWaitingFor: .retry(at: date))
        case .added, .restarted, .note: break
        }
        return true
    }
}
