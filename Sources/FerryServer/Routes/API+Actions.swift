import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import HummingbirdCore

/// Actions on one download or on many.
extension API {
    func act(_ visit: APIRequest, _ action: (Download) async -> Bool) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: visit)
        let download = try await download(visit.id, for: visit)
        let changed = await action(download)
        return try await answer(visit, changed: changed)
    }

    private func answer(_ visit: APIRequest, changed: Bool) async throws -> Response {
        let revision = visit.revision()
        let row = try await row(visit)
        return try Answer.json(ActionBody(changed: changed, download: manager.listed(row, revision: revision)))
    }

    func move(_ visit: APIRequest) async throws -> Response {
        let place = try await read(ListPlacement.self, of: visit)
        try await download(visit.id, for: visit).move(to: place)
        return try await answer(visit, changed: true)
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
        try await download.relocate(to: URL(fileURLWithPath: body.directory, isDirectory: true))
        return try await answer(visit, changed: true)
    }

    func keepResumeData(_ visit: APIRequest) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: visit)
        let data = try await download(visit.id, for: visit).cancel(keeping: .resumeData)
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
        try await many(visit, kinds: StateKind.waiting.union([.downloading, .verifying])) { download in
            await download.pause()
        } all: { session throws(DownloadError) in
            try await manager.pauseAll(session: session)
        }
    }

    func resumeMany(_ visit: APIRequest) async throws -> Response {
        try await many(visit, kinds: [.paused]) { download in
            await download.resume()
        } all: { session throws(DownloadError) in
            try await manager.resumeAll(session: session)
        }
    }

    private func many(
        _ visit: APIRequest, kinds: Set<StateKind>, each: @escaping @Sendable (Download) async -> Bool,
        all: (String) async throws(DownloadError) -> Void
    ) async throws -> Response {
        let selection = try await readIfPresent(SelectionBody.self, of: visit)
        guard let ids = selection?.ids else {
            let filter = RowFilter(kinds: kinds, session: visit.session)
            let before = try await manager.page(filter, limit: 0).total
            try await all(visit.session)
            let after = try await manager.page(filter, limit: 0).total
            return try Answer.json(CountBody(max(0, before - after)))
        }
        guard ids.count <= FerryAPI.mostAdded else {
            throw Problem(.badRequest, "At most \(FerryAPI.mostAdded) downloads at a time.")
        }
        var seen: Set<String> = []
        var downloads: [Download] = []
        for id in ids where seen.insert(id).inserted {
            downloads.append(try await download(DownloadID(rawValue: id), for: visit))
        }
        // Handles waiting downloads first: otherwise each would start when a running one has stopped.
        let running = Set(manager.running.map { $0.status.id })
        let ordered = downloads.filter { !running.contains($0.id) } + downloads.filter { running.contains($0.id) }
        let changed = await ordered.concurrently { await each($0) }
        return try Answer.json(CountBody(changed.count { $0 }))
    }

    func removeMany(_ visit: APIRequest) async throws -> Response {
        let body = try await read(RemovalBody.self, of: visit)
        guard body.ids.count <= FerryAPI.mostAtOnce else {
            throw Problem(.badRequest, "At most \(FerryAPI.mostAtOnce) downloads at a time.")
        }
        var seen: Set<String> = []
        let ids = body.ids.filter { seen.insert($0).inserted }.map { DownloadID(rawValue: $0) }
        let running = Set(manager.running.map { $0.status.id })
        var failures: [DownloadID: DownloadError] = [:]
        // Removes waiting downloads first: otherwise each would start when a running one has been removed.
        for some in [ids.filter { !running.contains($0) }, ids.filter { running.contains($0) }] {
            for (id, failure) in await some.concurrently({
                (id: $0, await failure(removing: $0, body.deleteFiles ?? false, for: visit))
            }) {
                failures[id] = failure
            }
        }
        return try Answer.json(RemovalItems(ids.map { Removal($0.rawValue, error: failures[$0]) }))
    }

    /// Removes one download. Returns the error, or `nil` on success.
    private func failure(removing id: DownloadID, _ deletes: Bool, for visit: APIRequest) async -> DownloadError? {
        do throws(DownloadError) {
            let download = try await download(id, for: visit)
            if deletes, let path = try await row(of: download).finished?.path { try confinement?.check(path) }
            try await download.remove(deletingFile: deletes)
            return nil
        } catch { return error }
    }

    func clear(_ visit: APIRequest) async throws -> Response {
        let body = try await read(ClearBody.self, of: visit)
        let filter = RowFilter(session: visit.session)
        let before = try await manager.page(filter, limit: 0).total
        try await manager.clear(body.which, deletingFiles: body.deleteFiles ?? false, session: visit.session)
        let after = try await manager.page(filter, limit: 0).total
        return try Answer.json(CountBody(max(0, before - after)))
    }
}
