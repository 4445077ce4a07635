import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging

/// Dispatches each route to its handler.
struct API: Sendable {
    let manager: DownloadManager
    let station: EventBroadcaster
    let speeds: SpeedHistory
    let sessions: SessionStore
    let settings: SettingsController
    let launcher: Launcher
    let codes: OneTimeCodes
    let texts = ListedTexts()
    let tokens: TokenStore
    let connections: ConnectionTable
    let budgets: BodyBudgets
    let addresses: AddressCache
    /// The directory of the HTML files that open the page in a browser.
    let signInDirectory: String
    let confinement: Confinement?
    let started: Date
    let logger: Logger

    func answer(_ visit: APIRequest) async throws -> Response {
        switch visit.route {
        case .greeting: try greeting(visit)
        case .openAPI: Answer.body(OpenAPIDocument.data, type: "application/json")
        case .list: try await list(visit)
        case .add: try await add(visit)
        case .show: try await show(visit)
        case .change: try await change(visit)
        case .remove: try await remove(visit)
        case .pause: try await act(visit) { one throws(DownloadError) in try await one.pause() }
        case .resume: try await act(visit) { one throws(DownloadError) in try await one.resume() }
        case .cancel: try await act(visit) { one throws(DownloadError) in try await one.cancel() }
        case .restart: try await act(visit) { one throws(DownloadError) in try await one.restart() }
        case .move: try await move(visit)
        case .relocate: try await relocate(visit)
        case .keepResumeData: try await keepResumeData(visit)
        case .addResumeData: try await addResumeData(visit)
        case .adopt: try await adopt(visit)
        case .history: try await history(visit)
        case .find: try await find(visit)
        case .pauseMany: try await act(.pause(), onMany: visit, mayNameNone: true)
        case .resumeMany: try await act(.resume, onMany: visit, mayNameNone: true)
        case .cancelMany: try await act(.cancel, onMany: visit)
        case .restartMany: try await act(.restart, onMany: visit)
        case .removeMany: try await removeMany(visit)
        case .changeMany: try await changeMany(visit)
        case .moveMany: try await moveMany(visit)
        case .clear: try await clear(visit)
        case .plan: try await plan(visit)
        case .settings: try showSettings(visit)
        case .changeSettings: try await changeSettings(visit)
        case .network: try Answer.json(manager.network)
        case .statistics: try await statistics(visit)
        case .storage: try await storage(visit)
        case .events: try events(visit)
        case .sessions: try await listSessions(visit)
        case .attach: try await attach(visit)
        case .acknowledge: try await acknowledge(visit)
        case .login: try await login(visit)
        case .makeCode: try await makeCode(visit)
        case .tokens: try listTokens(visit)
        case .withdraw: try await withdraw(visit)
        }
    }

    private func greeting(_ visit: APIRequest) throws -> Response {
        try Answer.json(
            Greeting(
                version: FerryVersion.text, pid: Int(ProcessInfo.processInfo.processIdentifier),
                session: visit.session, boot: station.boot, port: addresses.port,
                confinement: confinement?.body))
    }

    /// The default download directory of a session.
    func directory(of session: String) -> String {
        sessions.entry(session)?.directory ?? settings.current.directory
    }

    /// The locations that clients over TCP may write to in this session.
    func destinations(of session: String) -> DestinationPolicy {
        let own = directory(of: session)
        return DestinationPolicy(allowed: [own] + settings.current.allowedDirectories.filter { $0 != own })
    }

    /// Returns the listed download with this identifier. Throws `notFound`, also for another session's download over
    /// TCP.
    func download(_ id: DownloadID, for visit: APIRequest) async throws(DownloadError) -> Download {
        guard let download = try await manager.download(id: id), visit.mayUse(download.session) else {
            throw notListed(id)
        }
        return download
    }

    /// Returns the row of the download in the request's path. Throws like ``download(_:for:)``.
    func row(_ visit: APIRequest) async throws(DownloadError) -> CatalogueRow {
        guard let row = try await manager.rows([visit.id]).first, visit.mayUse(row.session) else {
            throw notListed(visit.id)
        }
        return row
    }

    /// Decodes the body of a request. Throws for members that it does not have.
    func read<Body: ClientBody>(_ type: Body.Type, of visit: APIRequest) async throws -> Body {
        try await visit.body(Strict<Body>.self, budgets[visit]).body
    }

    /// Decodes the body of a request; `nil` for an empty body.
    func readIfPresent<Body: ClientBody>(_ type: Body.Type, of visit: APIRequest) async throws -> Body? {
        try await visit.bodyIfPresent(Strict<Body>.self, budgets[visit])?.body
    }

    func notListed(_ id: DownloadID) -> DownloadError {
        DownloadError(.notFound, ErrorPhrase(.noDownload, APIText.quote(id.rawValue)), recovery: .needsUser)
    }
}
