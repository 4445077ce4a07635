import FerryAPI
import FerryCore
import FerryEngine
import Logging
import Synchronization

/// Applies the daemon's events.
extension RemoteSession {
    /// Applies one event of the stream, in order.
    ///
    /// Throws `unreachable` if the state that the event refers to could not be read; the stream must then begin again
    /// with a snapshot, because objects would otherwise keep an outdated state.
    func take(_ sent: ServerSentEvent) async throws(DaemonFailure) {
        let event: StreamEvent?
        do { event = try StreamEvent(sent) } catch {
            configuration.log(LogEntry(.error, "an event of the daemon cannot be read", details: "\(error)"))
            event = nil
        }
        do throws(DaemonFailure) {
            if let event { try await take(event) }
        } catch {
            configuration.log(LogEntry(.notice, "the state after an event could not be read", details: "\(error)"))
            if case .unreachable = error {
                state.withLock { $0.stream.forget() }
                throw error
            }
        }
        if let id = sent.id { state.withLock { $0.stream.received(id) } }
    }

    private func take(_ event: StreamEvent) async throws(DaemonFailure) {
        switch event {
        case .state(let said): stands(said)
        case .progress(let batch, _): for one in batch { moved(one) }
        case .removed(let ids, let position): removed(ids.map { DownloadID(rawValue: $0) }, asOf: position)
        case .order: log.append(ListChange(isReordered: true))
        case .happened(let body), .ended(let body): happened(body.event)
        case .network(let status): set(network: status)
        case .settings, .set: break
        case .upToDate:
            state.withLock { $0.stream.backlogEnded() }
            updates.notify()
        case .reset(let snapshot):
            set(network: snapshot.network)
            // Calls of a joined session may have been answered before events that were lost; the first snapshot
            // precedes all calls.
            state.withLock { if $0.stream.isUpToDate { $0.passing.lost(before: snapshot.asOf) } }
            try await lookAround()
            log.append(ListChange(isReordered: true))
        }
    }

    private func stands(_ said: ListedDownload) {
        guard said.session == place.identifier else { return }
        switch said.status.state {
        // The daemon reports progress of running downloads, with or without handles.
        case .downloading, .verifying: _ = try? live(for: said)
        case .waiting, .paused, .failed, .completed, .cancelled:
            let live = state.withLock { state in
                state.running.halted(said.id)
                // For the answer of a call that has no object yet.
                state.passing.note(said)
                return registry[said.id]
            }
            if let live { show(said, on: live) }
        }
        log.append(ListChange(changed: [said.id]))
        updates.notify()
    }

    private func moved(_ one: StreamEvent.Progress) {
        let id = DownloadID(rawValue: one.id)
        let (live, dispatcher, hasBegun) = state.withLock { state in
            (registry[id], state.dispatcher, state.running.begun.contains(id))
        }
        guard let live, live.show(one.progress), hasBegun, live.current == .downloading else { return }
        dispatcher?.report(one.progress, of: id)
    }

    /// Closes downloads that have left the list, by this position of the daemon's log; `nil` for now.
    func removed(_ ids: [DownloadID], asOf position: UInt64? = nil) {
        let gone: [LiveDownload] = state.withLock { state in
            if let position { state.passing.note(removed: ids, asOf: position) }
            return ids.compactMap { id in
                // Listed again since.
                if let position, registry[id]?.isNewer(than: position) == true { return nil }
                state.running.remove(id)
                return registry.remove(id)
            }
        }
        for live in gone { live.close() }
        log.append(ListChange(removed: Set(ids)))
        updates.notify()
    }

    /// Tells the app of an event; the state that it led to has come before it.
    private func happened(_ said: DownloadEvent) {
        let event = DownloadEvent(
            id: said.id, date: said.date, kind: said.kind, number: said.number, reason: said.reason,
            onAcknowledge: { [weak self] number in self?.handled(number) })
        let isTold: Bool = state.withLock { state in
            switch said.kind {
            case .started, .resumed: state.running.began(said.id)
            case .paused, .completed, .failed, .cancelled: state.running.halted(said.id)
            case .added, .retrying, .restarted, .waiting, .note: break
            }
            guard state.receipts.isNew(event) else { return false }
            // Until the backlog is complete, each listener reads it itself.
            return said.number == nil || state.stream.isUpToDate
        }
        let change = if case .added = said.kind { ListChange(added: [said.id]) } else { ListChange() }
        log.append(change, isTold ? [event] : [])
        updates.notify()
    }

    func set(network: NetworkStatus) {
        state.withLock { $0.network = network }
        networkHub.send(network)
    }

    // MARK: Events

    func listen() -> EventHub.Place { log.listen { [weak self] in await self?.backlog() } }

    /// The unacknowledged ends, once the daemon has sent all of them; `nil` if the session is closed before.
    private func backlog() async -> [DownloadEvent]? {
        while !Task.isCancelled {
            let seen = updates.count
            let (phase, isUpToDate, backlog) = state.withLock { ($0.phase, $0.stream.isUpToDate, $0.receipts.backlog) }
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

    /// Sends acknowledgements to the daemon; those that fail are sent after the next join.
    func acknowledge() {
        let begins = state.withLock { $0.wasJoined && $0.receipts.beginSending() }
        guard begins else { return }
        // owner: none; the task ends when the daemon has responded or is lost; shutdown sends the rest.
        Task { [weak self] in await self?.deliver() }
    }

    /// Sends acknowledgements until none is left or the daemon is lost.
    func deliver() async {
        while true {
            let numbers = state.withLock { $0.receipts.nextToSend() }
            if numbers.isEmpty { return }
            do throws(DaemonFailure) {
                _ = try await link.send(
                    DaemonCall(.acknowledge, json: AcknowledgeBody(numbers.sorted())), as: Nothing.self)
                state.withLock { $0.receipts.delivered(numbers) }
            } catch {
                state.withLock { state in
                    state.receipts.endSending()
                    // Do not repeat an acknowledgement that the daemon refuses.
                    if case .refused = error { state.receipts.delivered(numbers) }
                }
                return
            }
        }
    }
}
