import FerryCore
import FerryEngine

/// Changes of listed downloads: request, limits, position.
extension Scheduler {
    func change(
        _ live: LiveDownload, _ change: @Sendable (inout DownloadRequest) throws(DownloadError) -> Void
    ) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayChange(live)
        let (old, lacksSecrets) = try await whole(live)
        var wish = old
        try change(&wish)
        let request = try old.amended(to: wish)
        let keepsLack = lacksSecrets && SecretScope.isHome(of: old, for: wish.sources)
        guard wish.needsNewRun(after: old) else {
            return try await amend(live, request, from: old, lacksSecrets: keepsLack)
        }
        try await holding(live, .change) { _ throws(DownloadError) in
            try checkMayChange(live)
            try await amend(live, request, from: old, lacksSecrets: keepsLack)
        }
    }

    /// Gives a download what a new request for the same file sets; a run is stopped and started again. The caller holds the
    /// download's lock.
    func take(_ new: DownloadRequest, for live: LiveDownload) async throws(DownloadError) {
        let (old, lacksSecrets) = try await whole(live)
        let request = old.requested(again: new)
        guard request != old else { return }
        try request.checkValues()
        let keepsLack = lacksSecrets && Secrets(of: request) == Secrets(of: old)
        guard request.needsNewRun(after: old) else {
            return try await amend(live, request, from: old, lacksSecrets: keepsLack)
        }
        try await holding(live, .change) { _ throws(DownloadError) in
            try await amend(live, request, from: old, lacksSecrets: keepsLack)
        }
    }

    private func amend(
        _ live: LiveDownload, _ request: DownloadRequest, from old: DownloadRequest, lacksSecrets: Bool
    ) async throws(DownloadError) {
        try await write(request, from: old, of: live, lacksSecrets: lacksSecrets)
        live.set(request: request)
        await lookAtNetwork(for: [request.network])
        if request.network != old.network { takeBackLeases(of: [live.id]) }
        let driver = live.driver
        if request.maxConnections != old.maxConnections { driver?.set(maxConnections: request.maxConnections) }
        if request.rateLimit != old.rateLimit { driver?.set(rateLimit: request.rateLimit) }
        queue.set([(live.id, QueueConditions(of: request, through: configuration.transfer))])
        if request.priority != old.priority { try await rank(live, request.priority) }
        let isAnswered =
            request.sources != old.sources || request.trust != old.trust || request.headers != old.headers
            || request.connection != old.connection || request.credentials != old.credentials
        switch live.current {
        case let state where request.notBefore != old.notBefore && (state.followsQueue || state == .downloading):
            let (waiting, place) = firstWait(of: request)
            try await commit([.update(live.id, [.state(waiting), .attempts(0, retryAt: nil)])])
            rest(live.id, place)
            live.set(state: waiting)
        case .waiting(.freshLink) where isAnswered, .waiting(.credentials) where isAnswered:
            try await enqueue([held(live)], keepsPlace: true)
        default: live.publish()
        }
        told(live.id)
        reschedule()
        showStandings(of: [live])
    }

    private func checkMayChange(_ live: LiveDownload) throws(DownloadError) {
        _ = try begins(.change, on: live)
    }

    /// The stored request with its secrets, and whether it had secrets that are no longer available.
    private func whole(
        _ live: LiveDownload
    ) async throws(DownloadError) -> (request: DownloadRequest, lacksSecrets: Bool) {
        guard let row = try await store?.row(live.id) else {
            throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name))
        }
        guard row.hasSecrets else { return (row.request(with: nil), false) }
        let secrets = try await vault.secrets(of: live.id)
        return (row.request(with: secrets), secrets == nil)
    }

    /// Stores the changed request and its secrets. `lacksSecrets` states whether the download keeps waiting for its previous
    /// secrets, unless the request has new ones.
    private func write(
        _ request: DownloadRequest, from old: DownloadRequest, of live: LiveDownload, lacksSecrets: Bool
    ) async throws(DownloadError) {
        let secrets = Secrets(of: request)
        if Secrets(of: old) != secrets { try await vault.keep([live.id: secrets ?? Secrets()]) }
        var fields: [RowField] = [.request(request.stored, hasSecrets: lacksSecrets || secrets != nil)]
        if request.label != old.label { fields.append(.label(request.label)) }
        if request.userInfo != old.userInfo { fields.append(.userInfo(request.userInfo)) }
        try await store?.commit([.update(live.id, fields)])
        try await tag(live)
    }

    /// Sets a new priority; the download becomes the last of that priority.
    private func rank(_ live: LiveDownload, _ priority: DownloadPriority) async throws(DownloadError) {
        await listLock.acquire()
        defer { listLock.release() }
        let key = queue.takeKey(priority)
        try await store?.commit([.keys([StoreChange.KeyChange(live.id, key)])])
        queue.set([QueuePlace(id: live.id, key: key)])
        log.append(ListChange(moved: [live.id]))
        try await tag(live)
        // A run that began after the request was written shows the old priority.
        live.change { $0.priority = priority }
    }

    /// Passes the position, the label and other tags to the run and its journal.
    private func tag(_ live: LiveDownload) async throws(DownloadError) {
        // A run without a driver checks this count once it has a driver.
        queue.edited(live.id)
        guard let driver = live.driver, let row = try await keptStore?.row(live.id) else { return }
        driver.set(tags: JournalTags(row))
    }

    func provide(_ credentials: Credentials, to live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayChange(live)
        try await holding(live, .change) { _ throws(DownloadError) in
            try checkMayChange(live)
            let old = try await whole(live).request
            guard SecretScope.home(of: old) != nil else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.secretsForNobody), suggestion: ErrorPhrase(.nameServer),
                    recovery: .needsUser)
            }
            var request = old
            // allow(secrets): the user has provided them for this download, whose server was checked above.
            request.credentials = credentials
            // Credentials in a URL would take precedence over these.
            request.sources = request.sources.map { $0.with(nil) }
            try await write(request, from: old, of: live, lacksSecrets: false)
            live.set(request: request)
            switch live.current {
            // A web page in place of the file may be a sign-in form.
            case .waiting(.credentials), .waiting(.freshLink): try await enqueue([held(live)], keepsPlace: true)
            default: break
            }
        }
    }

    func move(_ live: LiveDownload, to place: ListPlacement) async throws(DownloadError) {
        if let error = try await move([live.id], to: place).failures[live.id] { throw error }
    }

    /// Moves downloads to one place, in this order, each among the downloads of its priority.
    func move(_ ids: [DownloadID], to place: ListPlacement) async throws(DownloadError) -> ListActionResult {
        let store = try await opened()
        await listLock.acquire()
        defer { listLock.release() }
        var result = ListActionResult()
        var moved: [QueuePlace] = []
        for id in ids {
            if let key = queue.key(of: id) {
                moved.append(QueuePlace(id: id, key: key))
            } else {
                result.failures[id] = DownloadError(.notFound, ErrorPhrase(.notListed, id.rawValue))
            }
        }
        var changes: [QueuePlace] = []
        for (priority, moved) in Dictionary(grouping: moved, by: \.key.priority) {
            do throws(DownloadError) {
                let target = try await placement(place, for: moved[0], in: store)
                // In a long list, read only the neighbours, unless positions must be redistributed.
                let gap = moved.count == 1 ? try await store.gap(target, for: moved[0]) : nil
                changes +=
                    gap.flatMap { PlacementPlanner.place(moved[0], in: $0) }
                    ?? PlacementPlanner.place(moved, target, among: queue.places(of: priority))
                result.changed.formUnion(moved.map(\.id))
            } catch {
                for one in moved { result.failures[one.id] = error }
            }
        }
        guard !changes.isEmpty else { return result }
        try await store.commit([.keys(changes.map { StoreChange.KeyChange($0.id, $0.key) })])
        queue.set(changes)
        log.append(ListChange(moved: Set(changes.map(\.id))))
        for live in moved.compactMap({ known($0.id) }) { try await tag(live) }
        reschedule()
        return result
    }

    private func placement(
        _ place: ListPlacement, for own: QueuePlace, in store: any DownloadStore
    ) async throws(DownloadError) -> PlacementPlanner.Placement {
        switch place {
        case .first: return .front
        case .index(let index):
            let other = try await store.identifier(at: max(0, index), besides: own)
            let key = other.flatMap { queue.key(of: $0) }
            return key.map { .before($0) } ?? .back
        case .last: return .back
        case .before(let id), .after(let id):
            guard let key = queue.key(of: id), key.priority == own.key.priority else {
                let name = try await store.rows([id]).first.map { status(of: $0).name } ?? ""
                throw DownloadError(
                    .notFound, ErrorPhrase(.notInThatPriority, name.isEmpty ? "\(id)" : name),
                    suggestion: ErrorPhrase(.samePriority), recovery: .needsUser)
            }
            return if case .before = place { .before(key) } else { .after(key) }
        }
    }
}
