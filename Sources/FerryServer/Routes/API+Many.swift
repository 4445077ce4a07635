import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// Actions on many downloads.
extension API {
    func find(_ call: APIRequest) async throws -> Response {
        let body = try await read(SelectionBody.self, of: call)
        let session = try call.session(in: call.items(["session"]))
        let ids = try await chosen(by: body, call, session) ?? []
        let listed = try await manager.listed(ids, hasHandle: call.wantsHandles)
        return try Answer.json(DownloadItems(listed.filter { call.mayUse($0.session) }))
    }

    func act(_ action: ListAction, onMany call: APIRequest, mayNameNone: Bool = false) async throws -> Response {
        let body =
            mayNameNone
            ? try await readIfPresent(SelectionBody.self, of: call) ?? SelectionBody()
            : try await read(SelectionBody.self, of: call)
        return try await many(call, body, mayNameNone: mayNameNone) { ids, session in
            try await manager.perform(action, on: ids, session: session)
        }
    }

    func removeMany(_ call: APIRequest) async throws -> Response {
        let body = try await read(RemovalBody.self, of: call)
        let action = ListAction.remove(deletingFiles: body.deleteFiles ?? false, ifIn: body.which?.kinds)
        return try await many(call, body) { ids, session in
            try await manager.perform(action, on: ids, session: session)
        }
    }

    func changeMany(_ call: APIRequest) async throws -> Response {
        let body = try await read(ChangeBody.self, of: call)
        return try await many(call, body) { ids, session in
            var ids = ids
            var refused: [DownloadID: DownloadError] = [:]
            if !body.change.members.isDisjoint(with: DownloadRequest.contentMembers) {
                let all =
                    if let ids { ids } else {
                        try await manager.identifiers(RowFilter(session: session), order: .queue)
                    }
                for (id, session) in try await manager.sessions(of: all) where call.mayUse(session) {
                    do throws(DownloadError) { try checkMayChange(body.change, in: session) } catch {
                        refused[id] = error
                    }
                }
                if !refused.isEmpty { ids = all.filter { refused[$0] == nil } }
            }
            var result = try await manager.perform(.change(body.change), on: ids, session: session)
            result.failures.merge(refused) { _, refusal in refusal }
            return result
        }
    }

    func moveMany(_ call: APIRequest) async throws -> Response {
        let body = try await read(MoveBody.self, of: call)
        return try await many(call, body) { ids, session in
            var place = body.place
            if body.words != nil {
                switch place {
                case .before(let word): place = .before(try await one(word.rawValue, session))
                case .after(let word): place = .after(try await one(word.rawValue, session))
                case .first, .last, .index: break
                }
            }
            try await checkMayName(place, for: call)
            let ids =
                if let ids { ids } else { try await manager.identifiers(RowFilter(session: session), order: .queue) }
            let own = try await manager.sessions(of: ids).filter { call.mayUse($0.value) }
            var result = try await manager.move(ids.filter { own[$0] != nil }, to: place)
            for id in ids where own[id] == nil { result.failures[id] = notListed(id) }
            return result
        }
    }

    func clear(_ call: APIRequest) async throws -> Response {
        let body = try await read(ClearBody.self, of: call)
        let result = try await manager.clear(
            body.which, deletingFiles: body.deleteFiles ?? false, session: call.session)
        let kept = result.failures.map { ActionFailure($0.rawValue, $1) }.sorted { $0.id < $1.id }
        return try Answer.json(ActionCount(result.changed.count, failures: kept))
    }

    /// Acts on the downloads that a body selects; `action` receives their identifiers, `nil` for all, and the session to which they
    /// must belong, `nil` for any.
    private func many(
        _ call: APIRequest, _ body: some SelectingBody, mayNameNone: Bool = false,
        _ action: ([DownloadID]?, String?) async throws -> ListActionResult
    ) async throws -> Response {
        let session = try call.session(in: call.items(["session"]))
        let ids = try await chosen(by: body, call, session, mayNameNone: mayNameNone)
        let named = body.words == nil ? nil : ids
        func listed() async throws -> [ListedDownload] {
            try await manager.listed(named ?? [], hasHandle: call.wantsHandles)
        }
        let before = call.route == .removeMany ? try await listed() : nil
        let result = try await action(ids, body.ids == nil || !call.isLocal ? session : nil)
        let failures = result.failures.isEmpty ? [] : (ids ?? result.failures.keys.sorted { $0.rawValue < $1.rawValue })
        var count = ActionCount(
            result.changed.count + result.unchanged.count,
            failures: failures.compactMap { id in result.failures[id].map { ActionFailure(id.rawValue, $0) } })
        if let named {
            count.downloads = if let before { before } else { try await listed() }
            let unchanged = named.filter(result.unchanged.contains).map(\.rawValue)
            if !unchanged.isEmpty { count.unchanged = unchanged }
        }
        return try Answer.json(count)
    }

    /// The downloads that a body selects, each once; `nil` for all downloads of the session.
    private func chosen(
        by body: some SelectingBody, _ call: APIRequest, _ session: String?, mayNameNone: Bool = false
    ) async throws -> [DownloadID]? {
        var seen: Set<DownloadID> = []
        switch (body.ids, body.words) {
        case (let ids?, nil): return ids.map { DownloadID(rawValue: $0) }.filter { seen.insert($0).inserted }
        case (nil, let words?) where words == ["all"]: return nil
        case (nil, let words?): return try await meant(by: words, session).filter { seen.insert($0).inserted }
        case (nil, nil) where mayNameNone: return nil
        default: throw Problem(.badRequest, "Either ids or words must be given.")
        }
    }

    private func one(_ word: String, _ session: String?) async throws -> DownloadID {
        try await meant(by: [word], session)[0]
    }

    /// Returns the download that each word denotes. Throws for a word that denotes none or several.
    private func meant(by words: [String], _ session: String?) async throws -> [DownloadID] {
        let found = try await manager.identifiers(of: words, session: session)
        var ids: [DownloadID] = []
        for (word, some) in zip(words, found) {
            if some.count > 1 {
                let shown = try await manager.rows(Array(some.prefix(3))).map { "\($0.id.rawValue) (\($0.name))" }
                let list = shown.joined(separator: ", ") + (some.count > 3 ? ", …" : "")
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.severalCalled, word, "\(some.count)", list),
                    suggestion: ErrorPhrase(.giveMoreOfID), recovery: .needsUser)
            }
            guard let id = some.first else {
                throw DownloadError(
                    .notFound, ErrorPhrase(.noneCalled, word), suggestion: ErrorPhrase(.listShows),
                    recovery: .needsUser)
            }
            ids.append(id)
        }
        return ids
    }
}
