import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Logging
import Synchronization

/// What the daemon's events mean here.
extension RemoteSession {
    /// One event of the stream, in its order.
    func take(_ sent: ServerSentEvent) async {
        do {
            if let event = try StreamEvent(sent) { await take(event) }
        } catch { configuration.logger?.error("an event of the daemon cannot be read: \(error)") }
        if let id = sent.id { state.withLock { $0.lastEvent = id } }
    }

    private func take(_ event: StreamEvent) async {
        switch event {
        case .state(let said): stands(said)
        case .progress(let batch): for one in batch { moved(one) }
        case .removed(let ids): removed(ids.map { DownloadID(rawValue: $0) })
        case .order: list.tell { ListChange(isReordered: true) }
        case .happened(let body), .ended(let body): await happened(body.event)
        case .network(let body): set(network: body.status)
        case .settings: break
        case .upToDate:
            state.withLock { $0.isUpToDate = true }
            updates.notify()
        case .reset(let snapshot):
            set(network: snapshot.network.status)
            do throws(DaemonFailure) { try await lookAround() } catch {
                configuration.logger?.warning("where downloads stand could not be read anew: \(error)")
            }
            list.tell { ListChange(isReordered: true) }
        }
    }

    private func stands(_ said: ListedDownload) {
        guard said.session == place.identifier else { return }
        let isHeld = known(said.id) != nil
        switch said.status.state {
        // Who runs may be told about, whether somebody holds it or not.
        case .downloading, .verifying: _ = live(for: said)
        case .waiting, .paused, .failed, .completed, .cancelled:
            // A row that was read before says less than this.
            readers.note(said.id)
            if isHeld { _ = live(for: said) }
            state.withLock { _ = $0.moving.remove(said.id) }
        }
        list.tell { ListChange(changed: [said.id]) }
        updates.notify()
    }

    private func moved(_ one: StreamEvent.Progress) {
        let id = DownloadID(rawValue: one.id)
        let (live, dispatcher, hasBegun) = state.withLock { state in
            (registry[id], state.dispatcher, state.moving.contains(id))
        }
        guard let live, live.show(one.progress), hasBegun, live.current == .downloading else { return }
        dispatcher?.report(one.progress, of: id)
    }

    func removed(_ ids: [DownloadID]) {
        let gone = state.withLock { state in
            ids.compactMap { id in
                state.running[id] = nil
                state.moving.remove(id)
                return registry.remove(id)
            }
        }
        for id in ids { readers.note(id) }
        for live in gone { live.close() }
        list.tell { ListChange(removed: Set(ids)) }
        updates.notify()
    }

    private func happened(_ said: DownloadEvent) async {
        // Who is told of an end finds the download there: the event may be quicker than the state.
        if let live = known(said.id), !said.kind.fits(live.current) {
            do throws(DaemonFailure) { try await look(at: live) } catch {
                configuration.logger?.warning("where a download stands could not be read: \(error)")
            }
        }
        let event = DownloadEvent(
            id: said.id, date: said.date, kind: said.kind, number: said.number, reason: said.reason,
            onAcknowledge: { [weak self] number in self?.handled(number) })
        let isTold: Bool = state.withLock { state in
            switch said.kind {
            case .started, .resumed: state.moving.insert(said.id)
            case .paused, .completed, .failed, .cancelled: state.moving.remove(said.id)
            case .added, .retrying, .restarted, .waiting, .note: break
            }
            guard state.receipts.isNew(event) else { return false }
            // Until what ended before has been told, each listener reads it by itself.
            return said.number == nil || state.isUpToDate
        }
        if isTold { hub.send(event) }
        updates.notify()
        if case .added = said.kind { list.tell { ListChange(added: [said.id]) } }
    }

    func set(network: NetworkStatus) {
        state.withLock { $0.network = network }
        networkHub.send(network)
    }

    // MARK: Listening

    var events: AsyncStream<DownloadEvent> { stream(listen()) }

    func listen() -> EventHub.Place { hub.listen { [weak self] in await self?.backlog() } }

    /// What ended and was not handled, once the daemon has told all of it; `nil` when it will not.
    private func backlog() async -> [DownloadEvent]? {
        while !Task.isCancelled {
            let seen = updates.count
            let (phase, isUpToDate, backlog) = state.withLock { ($0.phase, $0.isUpToDate, $0.receipts.backlog) }
            if isUpToDate { return backlog }
            if phase == .closed { return nil }
            await updates.wait(after: seen)
        }
        return nil
    }

    // MARK: Acknowledging

    private func handled(_ number: Int64) {
        guard state.withLock({ $0.receipts.handle(number) }) else { return }
        acknowledge()
    }

    /// Tells the daemon what was handled; what cannot be told now is told after the next join.
    func acknowledge() {
        let begins = state.withLock { state in
            guard !state.isAcknowledging, !state.receipts.handled.isEmpty, state.wasJoined else { return false }
            state.isAcknowledging = true
            return true
        }
        guard begins else { return }
        // owner: nobody has to wait for it: it ends when the daemon has answered, or is lost; shutdown tells what is left.
        Task { [weak self] in await self?.deliver() }
    }

    /// Delivers what was handled until nothing is left, or the daemon is lost.
    func deliver() async {
        while true {
            let numbers: Set<Int64> = state.withLock { state in
                if state.receipts.handled.isEmpty { state.isAcknowledging = false }
                return state.receipts.handled
            }
            if numbers.isEmpty { return }
            do throws(DaemonFailure) {
                try await client.send(call(.acknowledge, AcknowledgeBody(numbers.sorted())))
                state.withLock { $0.receipts.delivered(numbers) }
            } catch {
                state.withLock { state in
                    state.isAcknowledging = false
                    // One that it does not want to know of is not told again and again.
                    if case .refused = error { state.receipts.delivered(numbers) }
                }
                return
            }
        }
    }
}

extension DownloadEvent.Kind {
    /// Whether a download that this has happened to may be in that state: the end of a run is in its state.
    fileprivate func fits(_ state: DownloadState) -> Bool {
        switch (self, state) {
        case (.completed, .downloading), (.completed, .verifying), (.completed, .waiting): false
        case (.failed, .downloading), (.failed, .verifying), (.failed, .waiting): false
        case (.cancelled, .downloading), (.cancelled, .verifying), (.cancelled, .waiting), (.cancelled, .paused): false
        case (.paused, .downloading), (.paused, .verifying), (.paused, .waiting): false
        default: true
        }
    }
}
