import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// Sets of files.
extension API {
    func listSets(_ call: APIRequest) throws -> Response {
        Answer.list(try JSONCoding.encode(sets.items), for: call)
    }

    func addSet(_ call: APIRequest) async throws -> Response {
        var new = try await read(NewSet.self, of: call)
        try new.check(isLocal: call.isLocal)
        let (place, root) = try destinations(of: call.session).destination(
            of: .directory(new.directory), isLocal: call.isLocal, default: directory(of: call.session))
        if case .directory(let directory, _) = place { new.directory = Paths.normalized(directory) }
        try confinement?.check(new.directory)
        // The set is stored and listed with what is done.
        if root != nil { new.safeNames = true }
        let (set, isNew) = try await sets.add(new, root: root)
        var response = try Answer.json(set, status: isNew ? .created : .ok)
        if isNew { response.headers[.location] = Route.showSet.path(id: set.id) }
        return response
    }

    func showSet(_ call: APIRequest) throws -> Response { try Answer.json(try sets.set(call.identifier)) }

    func removeSet(_ call: APIRequest) async throws -> Response {
        try await sets.remove(call.identifier)
        return Answer.nothing
    }

    func act(
        onSet call: APIRequest, _ action: (String) async throws(DownloadError) -> FileSet
    ) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: call)
        return try Answer.json(try await action(call.identifier))
    }
}
