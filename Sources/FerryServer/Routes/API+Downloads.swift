import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Listing, adding, showing, changing and removing downloads.
extension API {
    func list(_ call: APIRequest) async throws -> Response {
        let items = try call.items(ListQuery.names)
        let query = try ListQuery(items)
        var filter = RowFilter(session: try call.session(in: items), search: query.search)
        if let words = query.states { filter.kinds = try kinds(words) }
        let order = RowOrder(query.sort, isDescending: query.order == .desc)
        let position = manager.position
        let page = try await manager.page(
            filter, order: order, offset: query.offset, limit: min(query.limit, FerryAPI.mostEntries))
        guard min(query.limit, page.total - query.offset) <= FerryAPI.mostEntries else {
            let all = try await manager.identifiers(filter, order: order)
            return list(
                call, all.dropFirst(query.offset).prefix(query.limit), total: all.count, query.offset, asOf: position)
        }
        let listed = try texts.items(
            page.rows.map { manager.listed($0, asOf: position, hasHandle: call.wantsHandles) })
        let end = Self.listEnd(page.total, query.offset, asOf: position)
        return Answer.list(Data(Self.listStart.utf8) + listed + Data(end.utf8), for: call)
    }

    private static let listStart = #"{"items":["#

    private static func listEnd(_ total: Int, _ offset: Int, asOf position: UInt64) -> String {
        #"],"asOf":\#(position),"offset":\#(offset),"total":\#(total)}"#
    }

    /// Returns more downloads than one read of the store contains. Their identifiers were read in one step, so that each download
    /// occurs only once even if it moves meanwhile. Their rows are read as the client receives them, so that memory does not grow
    /// with the list. Removed downloads are omitted.
    private func list(
        _ call: APIRequest, _ ids: ArraySlice<DownloadID>, total: Int, _ offset: Int, asOf first: UInt64
    ) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody { writer in
                var separator = Self.listStart
                for start in stride(from: ids.startIndex, to: ids.endIndex, by: FerryAPI.mostEntries) {
                    let position = manager.position
                    let rows = try await manager.rows(Array(ids[start...].prefix(FerryAPI.mostEntries)))
                    if rows.isEmpty { continue }
                    let items = try texts.items(
                        rows.map { manager.listed($0, asOf: position, hasHandle: call.wantsHandles) })
                    try await writer.write(ByteBuffer(bytes: Data(separator.utf8) + items))
                    separator = ","
                }
                let end = (separator == "," ? "" : separator) + Self.listEnd(total, offset, asOf: first)
                try await writer.write(ByteBuffer(string: end))
                try await writer.finish(nil)
            })
    }

    private func kinds(_ words: [String]) throws(Problem) -> Set<StateKind> {
        var kinds: Set<StateKind> = []
        for word in words {
            if word == "waiting" {
                kinds.formUnion(StateKind.waiting)
            } else if let kind = StateKind(rawValue: word), DownloadState.Kind(rawValue: word) != nil {
                kinds.insert(kind)
            } else {
                throw Problem(.badRequest, "\(ForeignText.quote(word)) is not a state.")
            }
        }
        return kinds
    }

    func add(_ call: APIRequest) async throws -> Response {
        let new = try await call.body(NewDownloads.self, budgets[call])
        guard new.downloads.count <= FerryAPI.mostAdded else {
            throw Problem(.badRequest, "At most \(FerryAPI.mostAdded) downloads at a time.")
        }
        guard !new.downloads.isEmpty else { throw Problem(.badRequest, "There is no download to add.") }
        let requests = try new.downloads.enumerated().map { index, one throws(Problem) in
            do throws(DownloadError) { return try request(one, session: call.session, isLocal: call.isLocal) } catch {
                throw Problem(error, at: new.isSingle ? nil : index)
            }
        }
        let added = try await list(requests, for: call.session)
        let rows = try await manager.listed(added.map(\.download.id), hasHandle: call.wantsHandles)
        let byID = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        let listed = added.compactMap { byID[$0.download.id] }
        let status: HTTPResponse.Status = added.contains(where: \.isNew) ? .created : .ok
        guard new.isSingle else { return try Answer.json(DownloadItems(listed), status: status) }
        guard let one = listed.first else { throw notListed(added[0].download.id) }
        var response = try Answer.json(one, status: status)
        response.headers[.location] = Route.show.path(id: one.id.rawValue)
        return response
    }

    /// Checks and adds requests of a client, all or none.
    func add(
        _ new: [DownloadRequest], session: String, isLocal: Bool
    ) async throws(DownloadError) -> [(download: Download, isNew: Bool)] {
        try await list(
            try new.map { new throws(DownloadError) in try request(new, session: session, isLocal: isLocal) },
            for: session)
    }

    /// Adds checked requests, all or none.
    private func list(
        _ requests: [DownloadRequest], for session: String
    ) async throws(DownloadError) -> [(download: Download, isNew: Bool)] {
        // Compared by bytes, because canonically equivalent names are different directories.
        var seen: Set = [Array(directory(of: session).utf8)]
        let places = requests.compactMap(\.destination.directory).filter { seen.insert(Array($0.utf8)).inserted }
        try await sessions.note(places, of: session)
        return try await manager.add(requests, for: session)
    }

    /// Returns the request as it is added or planned, with a destination that the client may choose.
    private func request(
        _ new: DownloadRequest, session: String, isLocal: Bool
    ) throws(DownloadError) -> DownloadRequest {
        // Checked before anything is recorded.
        try new.checkValues()
        var request = new
        // A web page may choose only destinations below the allowed directories.
        if request.uploadTo != nil, !isLocal { throw DownloadError(.invalidRequest, ErrorPhrase(.placeForSocket)) }
        // As in a change of a listed download, its route stays.
        if request.hasOwnRoute, request.onDuplicate == .existing, !isLocal { request.onDuplicate = .fail }
        (request.destination, request.root) = try destinations(of: session).destination(
            of: new.destination, isLocal: isLocal, default: directory(of: session))
        if let directory = request.destination.directory { try confinement?.check(directory) }
        guard !request.sources.isEmpty || request.destination.isPart else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.noURL), suggestion: ErrorPhrase(.giveInURLs), recovery: .needsUser)
        }
        request.session = session
        return request
    }

    func show(_ call: APIRequest) async throws -> Response {
        let position = manager.position
        let row = try await row(call)
        var detail = await manager.detail(of: row, asOf: position, hasHandle: call.wantsHandles)
        detail.speeds = speeds.samples(of: call.id)
        return try Answer.json(detail)
    }

    func change(_ call: APIRequest) async throws -> Response {
        let change = try await read(RequestChange.self, of: call)
        if !call.isLocal, !change.members.isDisjoint(with: DownloadRequest.routeMembers) {
            throw Problem(
                .forbidden,
                "The proxy and the trusted certificates of a listed download are changed through the Unix socket only.")
        }
        let download = try await download(call.id, for: call)
        try checkMayChange(change, in: download.session)
        if change.changesRequest { try await download.change { change.apply(to: &$0) } }
        if let credentials = change.request.credentials { try await download.provide(credentials: credentials) }
        return try await listed(download, call)
    }

    /// Throws `invalidRequest` for a change of what a door's own downloads or those of sets fetch: the door chooses that for its
    /// clients, and a set for its directory.
    func checkMayChange(_ change: RequestChange, in session: String) throws(DownloadError) {
        guard session == SetKeeper.session || doors.opened?.owns(session) == true,
            !change.members.isDisjoint(with: DownloadRequest.contentMembers)
        else { return }
        throw DownloadError(.invalidRequest, ErrorPhrase(.fixedInSession, session), recovery: .needsUser)
    }

    func remove(_ call: APIRequest) async throws -> Response {
        let deletes = try call.items(["deleteFile"]).flag("deleteFile") ?? false
        let download = try await download(call.id, for: call)
        try await download.remove(deletingFile: deletes)
        return Answer.nothing
    }

    func history(_ call: APIRequest) async throws -> Response {
        let session = try await row(call).session
        let events = try await manager.history(of: call.id)
        let items = EventItems(events.map { EventBody($0, session: session) })
        return Answer.list(try JSONCoding.encode(items), for: call)
    }

    func plan(_ call: APIRequest) async throws -> Response {
        let testsRanges = try call.items([PlanQuery.testsRanges]).flag(PlanQuery.testsRanges) ?? true
        let new = try await read(DownloadRequest.self, of: call)
        return try Answer.json(
            try await manager.plan(
                try request(new, session: call.session, isLocal: call.isLocal), testsRanges: testsRanges))
    }
}

extension DownloadRequest.Destination {
    fileprivate var isPart: Bool { if case .part = self { true } else { false } }
}
