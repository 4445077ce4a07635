import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import HummingbirdCore

/// Actions on one download.
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
}
