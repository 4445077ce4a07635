import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// Actions on one download.
extension API {
    func act(
        _ call: APIRequest, _ action: (Download) async throws(DownloadError) -> Void
    ) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: call)
        try await action(try await download(call.id, for: call))
        return try await acted(call)
    }

    /// The download after an action.
    private func acted(_ call: APIRequest) async throws -> Response {
        try Answer.json(try await listed(call))
    }

    func move(_ call: APIRequest) async throws -> Response {
        let place = try await read(ListPlacement.self, of: call)
        try await download(call.id, for: call).moveInList(to: place)
        return try await acted(call)
    }

    func relocate(_ call: APIRequest) async throws -> Response {
        let body = try await read(RelocateBody.self, of: call)
        guard body.directory.utf8.hasPrefix("/") else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativePath, APIText.quote(body.directory)), recovery: .needsUser)
        }
        try confinement?.check(body.directory)
        let download = try await download(call.id, for: call)
        try await sessions.note([body.directory], of: download.session)
        try await download.moveFiles(to: body.directory)
        return try await acted(call)
    }

    func keepResumeData(_ call: APIRequest) async throws -> Response {
        let path = try await readIfPresent(TakenBody.self, of: call)?.path
        if let path, try await manager.rows([call.id]).isEmpty {
            guard path.utf8.hasPrefix("/") else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.relativePath, APIText.quote(path)), recovery: .needsUser)
            }
            try confinement?.check(path)
            let data = try await manager.resumeData(of: call.id, takenFrom: path, session: call.session)
            return try Answer.json(ResumeDataBody(data.data))
        }
        let data = try await download(call.id, for: call).cancelByProducingResumeData()
        return try Answer.json(ResumeDataBody(data.data))
    }

    func addResumeData(_ call: APIRequest) async throws -> Response {
        let data = try ResumeData(try await read(ResumeDataBody.self, of: call).resumeData)
        try confinement?.check(data.partPath)
        let download = try await manager.add(resumingWith: data, for: call.session)
        return try await created(download, call)
    }

    func adopt(_ call: APIRequest) async throws -> Response {
        let path = try await read(AdoptBody.self, of: call).path
        guard path.utf8.hasPrefix("/") else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativePath, APIText.quote(path)), recovery: .needsUser)
        }
        try confinement?.check(path)
        return try await created(try await manager.adopt(path, for: call.session), call)
    }

    private func created(_ download: Download, _ call: APIRequest) async throws -> Response {
        guard let one = try await listed([download.id], call).first else { throw notListed(download.id) }
        return try Answer.json(one, status: .created)
    }

    /// The download of a request as it is now.
    func listed(_ call: APIRequest) async throws(DownloadError) -> ListedDownload {
        let position = manager.position
        return manager.listed(try await row(call), asOf: position, hasHandle: call.wantsHandles)
    }

    /// These downloads as they are now; those that are not listed are omitted.
    func listed(_ ids: [DownloadID], _ call: APIRequest) async throws(DownloadError) -> [ListedDownload] {
        // Before the rows are read: they are as new, or newer.
        let position = manager.position
        return try await manager.rows(ids).map { manager.listed($0, asOf: position, hasHandle: call.wantsHandles) }
    }
}
