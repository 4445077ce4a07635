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
        let download = try await download(call.id, for: call)
        try await action(download)
        return try await listed(download, call)
    }

    func move(_ call: APIRequest) async throws -> Response {
        let place = try await read(ListPlacement.self, of: call)
        let download = try await download(call.id, for: call)
        try await checkMayName(place, for: call)
        try await download.moveInList(to: place)
        return try await listed(download, call)
    }

    func relocate(_ call: APIRequest) async throws -> Response {
        let body = try await read(RelocateBody.self, of: call)
        guard body.directory.utf8.hasPrefix("/") else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativePath, ForeignText.quote(body.directory)), recovery: .needsUser)
        }
        try confinement?.check(body.directory)
        let download = try await download(call.id, for: call)
        try await sessions.note([body.directory], of: download.session)
        try await download.moveFiles(to: body.directory)
        return try await listed(download, call)
    }

    func keepResumeData(_ call: APIRequest) async throws -> Response {
        let path = try await readIfPresent(TakenBody.self, of: call)?.path
        if let path, try await manager.rows([call.id]).isEmpty {
            guard path.utf8.hasPrefix("/") else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.relativePath, ForeignText.quote(path)), recovery: .needsUser)
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
        return try await listed(download, call, status: .created)
    }

    func adopt(_ call: APIRequest) async throws -> Response {
        let path = try await read(AdoptBody.self, of: call).path
        guard path.utf8.hasPrefix("/") else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativePath, ForeignText.quote(path)), recovery: .needsUser)
        }
        try confinement?.check(path)
        return try await listed(try await manager.adopt(path, for: call.session), call, status: .created)
    }

    /// Returns a response with the current state of a download. Throws `notFound` if the download is no longer listed.
    func listed(
        _ download: Download, _ call: APIRequest, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let one = try await manager.listed([download.id], hasHandle: call.wantsHandles).first
        guard let one else { throw notListed(download.id) }
        return try Answer.json(one, status: status)
    }
}
