import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import HummingbirdCore

/// Actions on one download or on many.
extension API {
    func act(
        _ visit: APIRequest, _ action: (Download) async throws(DownloadError) -> Void
    ) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: visit)
        try await action(try await download(visit.id, for: visit))
        return try await acted(visit)
    }

    /// The download after an action.
    private func acted(_ visit: APIRequest) async throws -> Response {
        let revision = visit.revision()
        return try Answer.json(manager.listed(try await row(visit), revision: revision))
    }

    func move(_ visit: APIRequest) async throws -> Response {
        let place = try await read(ListPlacement.self, of: visit)
        try await download(visit.id, for: visit).move(to: place)
        return try await acted(visit)
    }

    func relocate(_ visit: APIRequest) async throws -> Response {
        let body = try await read(RelocateBody.self, of: visit)
        guard body.directory.utf8.hasPrefix("/") else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativePath, APIText.quote(body.directory)), recovery: .needsUser)
        }
        try confinement?.check(body.directory)
        let download = try await download(visit.id, for: visit)
        try await sessions.note([body.directory], of: download.session)
        try await download.relocate(to: body.directory)
        return try await acted(visit)
    }

    func keepResumeData(_ visit: APIRequest) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: visit)
        let data = try await download(visit.id, for: visit).cancelByProducingResumeData()
        return try Answer.json(ResumeDataBody(data.data))
    }

    func addResumeData(_ visit: APIRequest) async throws -> Response {
        let data = try ResumeData(try await read(ResumeDataBody.self, of: visit).resumeData)
        try confinement?.check(data.partPath)
        let download = try await manager.add(resumingWith: data, for: visit.session)
        return try await created(download, visit)
    }

    func adopt(_ visit: APIRequest) async throws -> Response {
        let path = try await read(AdoptBody.self, of: visit).path
        guard path.utf8.hasPrefix("/") else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativePath, APIText.quote(path)), recovery: .needsUser)
        }
        try confinement?.check(path)
        return try await created(try await manager.adopt(path, for: visit.session), visit)
    }

    private func created(_ download: Download, _ visit: APIRequest) async throws -> Response {
        let revision = visit.revision()
        return try Answer.json(
            manager.listed(try await row(of: download), revision: revision), status: .created)
    }

    func row(of download: Download) async throws(DownloadError) -> CatalogueRow {
        guard let row = try await manager.rows([download.id]).first else { throw notListed(download.id) }
        return row
    }

    func pauseMany(_ visit: APIRequest) async throws -> Response {
        guard let ids = try await readIfPresent(SelectionBody.self, of: visit)?.ids else {
            let kinds = StateKind.waiting.union([.downloading, .verifying])
            return try await count(kinds, visit) { () async throws(DownloadError) in
                try await manager.pauseAll(session: visit.session)
            }
        }
        return try await each(ids, atMost: FerryAPI.mostAdded, visit) { download throws(DownloadError) in
            try await download.pause()
        }
    }

    func resumeMany(_ visit: APIRequest) async throws -> Response {
        guard let ids = try await readIfPresent(SelectionBody.self, of: visit)?.ids else {
            return try await count([.paused], visit) { () async throws(DownloadError) in
                try await manager.resumeAll(session: visit.session)
            }
        }
        return try await each(ids, atMost: FerryAPI.mostAdded, visit) { download throws(DownloadError) in
            try await download.resume()
        }
    }

    func removeMany(_ visit: APIRequest) async throws -> Response {
        let body = try await read(RemovalBody.self, of: visit)
        let deletes = body.deleteFiles ?? false
        return try await each(body.ids, atMost: FerryAPI.mostAtOnce, visit) { download throws(DownloadError) in
            if deletes, let path = try await row(of: download).finished?.path { try confinement?.check(path) }
            try await download.remove(deletingFile: deletes)
        }
    }

    func clear(_ visit: APIRequest) async throws -> Response {
        let body = try await read(ClearBody.self, of: visit)
        return try await count(nil, visit) { () async throws(DownloadError) in
            try await manager.clear(body.which, deletingFiles: body.deleteFiles ?? false, session: visit.session)
        }
    }

    /// Counts how many of the session's downloads in these states, or with `nil` in any, an action on all of them
    /// leaves fewer.
    private func count(
        _ kinds: Set<StateKind>?, _ visit: APIRequest, _ action: () async throws(DownloadError) -> Void
    ) async throws -> Response {
        let filter = RowFilter(kinds: kinds, session: visit.session)
        let before = try await manager.page(filter, limit: 0).total
        try await action()
        let after = try await manager.page(filter, limit: 0).total
        return try Answer.json(ActionCount(max(0, before - after)))
    }

    /// Acts on each of these downloads. Waiting ones come first: otherwise each would start in a slot that the action
    /// on a running one has freed.
    private func each(
        _ words: [String], atMost most: Int, _ visit: APIRequest,
        _ action: @escaping @Sendable (Download) async throws(DownloadError) -> Void
    ) async throws -> Response {
        guard words.count <= most else { throw Problem(.badRequest, "At most \(most) downloads at a time.") }
        var seen: Set<String> = []
        let ids = words.filter { seen.insert($0).inserted }.map { DownloadID(rawValue: $0) }
        let running = Set(manager.running.map { $0.status.id })
        var failures: [DownloadID: DownloadError] = [:]
        for some in [ids.filter { !running.contains($0) }, ids.filter { running.contains($0) }] {
            let results = await some.concurrently { id in
                do throws(DownloadError) {
                    try await action(try await download(id, for: visit))
                    return (id, DownloadError?.none)
                } catch { return (id, error) }
            }
            for (id, failure) in results { failures[id] = failure }
        }
        return try Answer.json(
            ActionCount(
                ids.count - failures.count,
                failures: ids.compactMap { id in failures[id].map { ActionFailure(id.rawValue, $0) } }))
    }
}
