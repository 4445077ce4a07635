import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import Logging

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Dispatches each route to its handler.
struct API: Sendable {
    let manager: DownloadManager
    let broadcaster: EventBroadcaster
    let speeds: SpeedHistory
    let sessions: SessionStore
    let settings: SettingsController
    let launcher: Launcher
    let sets: SetKeeper
    let codes: OneTimeCodes
    let links = ContentLinks()
    let texts = ListedTexts()
    let tokens: TokenStore
    let connections: ConnectionTable
    let budgets: BodyBudgets
    let seats: ContentSeats
    let addresses: AddressCache
    let metrics: DaemonMetrics
    let doors: DoorPlace
    /// The directory of the HTML files that open the page in a browser.
    let signInDirectory: String
    let confinement: Confinement?
    let started: Date
    let logger: Logger

    func answer(_ call: APIRequest) async throws -> Response {
        switch call.route {
        case .greeting: try greeting(call)
        case .openAPI: Answer.body(OpenAPIDocument.data, type: "application/json")
        case .list: try await list(call)
        case .add: try await add(call)
        case .show: try await show(call)
        case .change: try await change(call)
        case .remove: try await remove(call)
        case .pause: try await act(call) { one throws(DownloadError) in try await one.pause() }
        case .resume: try await act(call) { one throws(DownloadError) in try await one.resume() }
        case .cancel: try await act(call) { one throws(DownloadError) in try await one.cancel() }
        case .restart: try await act(call) { one throws(DownloadError) in try await one.restart() }
        case .move: try await move(call)
        case .relocate: try await relocate(call)
        case .keepResumeData: try await keepResumeData(call)
        case .addResumeData: try await addResumeData(call)
        case .adopt: try await adopt(call)
        case .history: try await history(call)
        case .content: try await content(call)
        case .contentLink: try await makeContentLink(call)
        case .find: try await find(call)
        case .pauseMany: try await act(.pause(), onMany: call, mayNameNone: true)
        case .resumeMany: try await act(.resume(), onMany: call, mayNameNone: true)
        case .cancelMany: try await act(.cancel, onMany: call)
        case .restartMany: try await act(.restart, onMany: call)
        case .removeMany: try await removeMany(call)
        case .changeMany: try await changeMany(call)
        case .moveMany: try await moveMany(call)
        case .clear: try await clear(call)
        case .plan: try await plan(call)
        case .settings: try showSettings(call)
        case .changeSettings: try await changeSettings(call)
        case .network: try Answer.json(manager.network)
        case .statistics: try await statistics(call)
        case .storage: try await storage(call)
        case .sets: try listSets(call)
        case .addSet: try await addSet(call)
        case .showSet: try showSet(call)
        case .removeSet: try await removeSet(call)
        case .pauseSet: try await act(onSet: call) { id throws(DownloadError) in try await sets.pause(id) }
        case .resumeSet: try await act(onSet: call) { id throws(DownloadError) in try await sets.resume(id) }
        case .cancelSet: try await act(onSet: call) { id throws(DownloadError) in try await sets.cancel(id) }
        case .gateway, .gatewayFiles, .purgeGateway, .verifyGateway: try await askDoor(call)
        case .events: try events(call)
        case .sessions: try await listSessions(call)
        case .attach: try await attach(call)
        case .acknowledge: try await acknowledge(call)
        case .login: try await login(call)
        case .makeCode: try await makeCode(call)
        case .tokens: try listTokens(call)
        case .withdraw: try await withdraw(call)
        }
    }

    private func greeting(_ call: APIRequest) throws -> Response {
        try Answer.json(
            Greeting(
                version: FerryVersion.text, pid: Int(ProcessInfo.processInfo.processIdentifier),
                session: call.session, boot: broadcaster.boot, port: addresses.port,
                confinement: confinement?.body, damagedCatalogue: manager.damagedCatalogue))
    }

    /// The default download directory of a session.
    func directory(of session: String) -> String {
        sessions.entry(session)?.directory ?? settings.current.directory
    }

    /// The locations to which clients over TCP may write in this session.
    func destinations(of session: String) -> DestinationPolicy {
        let own = directory(of: session)
        return DestinationPolicy(allowed: [own] + settings.current.allowedDirectories.filter { $0 != own })
    }

    /// Returns the listed download with this identifier. Throws `notFound` if there is none or, over TCP, if it belongs to another
    /// session.
    func download(_ id: DownloadID, for call: APIRequest) async throws(DownloadError) -> Download {
        guard let download = try await manager.download(id: id), call.mayUse(download.session) else {
            throw notListed(id)
        }
        return download
    }

    /// Throws `notFound` if a place over TCP is beside a download that is not listed, or belongs to another session.
    func checkMayName(_ place: ListPlacement, for call: APIRequest) async throws(DownloadError) {
        guard !call.isLocal else { return }
        switch place {
        case .before(let id), .after(let id): _ = try await download(id, for: call)
        case .first, .last, .index: break
        }
    }

    /// Returns the row of the download in the request's path. Throws like ``download(_:for:)``.
    func row(_ call: APIRequest) async throws(DownloadError) -> CatalogueRow {
        guard let row = try await manager.rows([call.id]).first, call.mayUse(row.session) else {
            throw notListed(call.id)
        }
        return row
    }

    /// Decodes the body of a request. Throws for unknown members.
    func read<Body: ClientBody>(_ type: Body.Type, of call: APIRequest) async throws -> Body {
        try await call.body(Strict<Body>.self, budgets[call]).body
    }

    /// Decodes the body of a request; `nil` for an empty body.
    func readIfPresent<Body: ClientBody>(_ type: Body.Type, of call: APIRequest) async throws -> Body? {
        try await call.bodyIfPresent(Strict<Body>.self, budgets[call])?.body
    }

    func notListed(_ id: DownloadID) -> DownloadError {
        DownloadError(.notFound, ErrorPhrase(.noDownload, ForeignText.quote(id.rawValue)), recovery: .needsUser)
    }
}
