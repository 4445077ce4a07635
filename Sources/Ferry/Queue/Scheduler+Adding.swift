package import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// New downloads: checked, compared with what is listed, written down together, and only then begun.
extension Scheduler {
    typealias Added = (live: LiveDownload, isNew: Bool)

    /// Adds all of them, or none; the answers are in the order of the requests.
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload] {
        try await addAll(requests).map(\.live)
    }

    /// The same, and which of them were not listed before.
    func addAll(_ requests: [DownloadRequest]) async throws(DownloadError) -> [Added] {
        var answers = try await enlist(requests)
        // Not in the list's turn: whoever has the turn of one of these may be waiting for that.
        for index in answers.indices {
            while !answers[index].isNew, !(await revive(answers[index].live)) {
                // It was taken off the list before its turn came.
                answers[index] = try await enlist([requests[index]])[0]
            }
        }
        return answers
    }

    /// Lists what is not listed yet, in the list's turn.
    private func enlist(_ requests: [DownloadRequest]) async throws(DownloadError) -> [Added] {
        let store = try await opened()
        await lookAtNetwork(for: requests.lazy.map(\.network))
        await listLock.acquire()
        defer { listLock.release() }
        guard !state.withLock({ $0.isDraining || $0.phase != .open }) else { throw Self.wasShutDown }
        // All of one addition are of one session.
        let plan = try await plan(requests, store)
        try await check(plan, store)
        var added: [LiveDownload] = []
        let rows = plan.rows
        if !rows.isEmpty {
            try await vault.keep(plan.secrets)
            do throws(DownloadError) { try await store.commit([.insert(rows)]) } catch {
                await vault.remove(Array(plan.secrets.keys))
                throw error
            }
            added = enter(rows, plan)
        }
        var answers: [Added] = []
        for answer in plan.answers {
            switch answer {
            case .new(let index): answers.append((added[index], true))
            case .existing(let live): answers.append((live, false))
            }
        }
        reschedule()
        return answers
    }

    private enum Answer {
        /// The row with this number.
        case new(Int)
        case existing(LiveDownload)
    }

    private struct Plan {
        var answers: [Answer] = []
        var rows: [CatalogueRow] = []
        var secrets: [DownloadID: Secrets] = [:]
        /// Identifiers that were asked for; others are made so that nobody has them.
        var wanted: [DownloadID] = []
    }

    private var vault: any SecretVault { state.withLock { $0.vault } }

    private func plan(
        _ requests: [DownloadRequest], _ store: any DownloadStore
    ) async throws(DownloadError) -> Plan {
        var plan = Plan()
        let now = clock.date()
        let isKept = configuration.storage.isKept
        let split = requests.map { StoredRequest.split($0) }
        let session = requests.first?.session
        let duplicates = isKept ? try await store.duplicates(of: split.map(\.stored), session: session) : []
        var seen: [StoredRequest.Place: Int] = [:]
        for (index, request) in requests.enumerated() {
            let (stored, secrets) = split[index]
            if isKept, request.onDuplicate != .addAnother {
                let listed = duplicates[index].first
                if request.onDuplicate == .fail, listed != nil || seen[stored.place] != nil {
                    throw DownloadError(
                        .duplicate, ErrorPhrase(.alreadyListed, request.sources.first?.redacted ?? "this download"),
                        suggestion: ErrorPhrase(.useListed), recovery: .needsUser)
                }
                if let listed, let live = try await live(listed, in: store) {
                    plan.answers.append(.existing(live))
                    continue
                }
                if let first = seen[stored.place] {
                    plan.answers.append(.new(first))
                    continue
                }
            }
            let id = request.id ?? DownloadID.make()
            if request.id != nil { plan.wanted.append(id) }
            if isKept { seen[stored.place] = plan.rows.count }
            plan.answers.append(.new(plan.rows.count))
            let key = state.withLock { $0.takeKey(request.priority) }
            plan.rows.append(
                CatalogueRow(
                    id: id, session: request.session ?? configuration.storage.identifier ?? "", key: key,
                    state: request.firstState(at: now), name: request.firstName, request: stored,
                    label: request.label, userInfo: request.userInfo, createdAt: now))
            plan.secrets[id] = secrets
        }
        return plan
    }

    /// Two may not have one identifier, neither a new one and a listed one. Known before anything is kept under it: the
    /// secrets there belong to the listed one.
    private func check(_ plan: Plan, _ store: any DownloadStore) async throws(DownloadError) {
        var ids: Set<DownloadID> = []
        for id in plan.wanted where !ids.insert(id).inserted {
            throw DownloadError(.duplicate, ErrorPhrase(.sameIdentifier, "\(id)"))
        }
        let taken: DownloadID?
        if configuration.storage.isKept {
            taken = state.withLock { state in plan.wanted.first { state.listed.contains($0) } }
        } else {
            taken = try await store.rows(plan.wanted).first?.id
        }
        if let taken { throw .isListed(taken) }
    }

    private func enter(_ rows: [CatalogueRow], _ plan: Plan) -> [LiveDownload] {
        let isKept = configuration.storage.isKept
        let all = state.withLock { state in
            rows.map { row in
                if isKept { state.listed.insert(row.id) }
                switch row.state {
                case .waiting(let reason):
                    var until: Duration?
                    if case .notBefore(let date) = reason { until = moment(of: date) }
                    let spot = QueueSpot(
                        row.key, row.request.network, until: until, host: row.request.sources.first?.host,
                        session: row.session)
                    state.enter(row.id, at: spot)
                case .downloading, .verifying, .paused, .failed, .completed, .cancelled: break
                }
                // Only now, when it is known what it waits for.
                return live(for: row.id, &state) { object(of: row, plan.secrets[row.id]) }
            }
        }
        if hub.isHeard {
            for row in rows { send(.added(url: row.request.sources.first?.redacted ?? ""), of: row.id) }
        }
        list.tell { ListChange(added: Set(rows.map(\.id))) }
        return all
    }

    /// A listed one was asked for again: it begins again when it has ended without its file being there. False when it
    /// is not listed any more.
    private func revive(_ live: LiveDownload) async -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        // Then all are closed, and stay as they are.
        if isShutDown { return true }
        if live.isClosed { return false }
        switch live.current {
        case .completed: if !(await isUnchanged(live)) { await renew(live) }
        case .failed: await join(live)
        case .cancelled: await renew(live)
        case .waiting, .downloading, .verifying, .paused: break
        }
        return true
    }

    /// Whether the file is still the one that was published.
    private func isUnchanged(_ live: LiveDownload) async -> Bool {
        guard let row = try? await state.withLock({ $0.store })?.row(live.id), let stamp = row.published,
            let finished = row.finished
        else { return false }
        let environment = engine.environment(for: configuration)
        return await environment.pool.run {
            stamp.file(at: finished.path).isUnchanged(fileSystem: environment.fileSystem)
        }
    }
}

extension DownloadID {
    /// 64 random bits in 13 characters, without those that look like others (i, l, o, u). A text of at most 15 bytes needs
    /// no memory of its own, and of these there is one for each download of a list.
    package static func make() -> DownloadID {
        var bits = UInt64.random(in: 0...UInt64.max)
        var text: [UInt8] = []
        for _ in 0..<13 {
            text.append(characters[Int(bits & 31)])
            bits >>= 5
        }
        return DownloadID(rawValue: String(decoding: text, as: UTF8.self))
    }

    private static let characters = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
}

extension DownloadRequest {
    /// The name to show until the server has said one.
    var firstName: String {
        switch destination {
        case .file(let path), .part(let path): Paths.name(of: path)
        case .directory(_, .exact(let name)): name
        case .directory, .stream: sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? "download"
        }
    }

    func firstState(at now: Date) -> DownloadState {
        if startsPaused { return .paused }
        if let notBefore, notBefore > now { return .waiting(.notBefore(notBefore)) }
        return .waiting(.slot)
    }
}

extension DownloadRequest {
    var isStream: Bool { if case .stream = destination { true } else { false } }
}

extension CatalogueRow {
    /// Where its file goes, absolute; `nil` for a stream.
    var directory: String? {
        if let path { return Paths.parent(of: path) }
        switch request.destination {
        case .directory(let path, _): return path
        case .file(let path), .part(let path): return Paths.parent(of: path)
        case .stream: return nil
        }
    }
}

extension StoredRequest {
    /// What makes two requests the same download: the sources, and where the file goes.
    struct Place: Hashable {
        var sources: [String]
        var destination: DownloadRequest.Destination
    }
    var place: Place { Place(sources: sources.map(\.text), destination: destination) }
}
