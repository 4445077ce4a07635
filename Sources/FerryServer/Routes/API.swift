import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The routes of the table, each with what answers it.
struct API: Sendable {
    let manager: DownloadManager
    let station: EventStation
    let speeds: SpeedBook
    let sessions: SessionBook
    let settings: SettingsKeeper
    let launcher: Launcher
    let codes: OneTimeCodes
    let texts = ListedTexts()
    let token: AccessToken
    let addresses: AddressBook
    let confinement: Confinement?
    let started: Date
    let logger: Logger

    func answer(_ visit: Visit) async throws -> Response {
        switch visit.route {
        case .greeting: try greeting(visit)
        case .openAPI: Answer.body(OpenAPIDocument.data, type: "application/json")
        case .list: try await list(visit)
        case .add: try await add(visit)
        case .show: try await show(visit)
        case .change: try await change(visit)
        case .remove: try await remove(visit)
        case .pause: try await act(visit) { await $0.pause() }
        case .resume: try await act(visit) { await $0.resume() }
        case .cancel: try await act(visit) { await $0.cancel() }
        case .restart: try await act(visit) { await $0.restart() }
        case .move: try await move(visit)
        case .relocate: try await relocate(visit)
        case .keepResumeData: try await keepResumeData(visit)
        case .addResumeData: try await addResumeData(visit)
        case .adopt: try await adopt(visit)
        case .history: try await history(visit)
        case .pauseMany: try await pauseMany(visit)
        case .resumeMany: try await resumeMany(visit)
        case .removeMany: try await removeMany(visit)
        case .clear: try await clear(visit)
        case .plan: try await plan(visit)
        case .settings: try showSettings(visit)
        case .changeSettings: try await changeSettings(visit)
        case .network: try Answer.json(NetworkBody(manager.network))
        case .statistics: try await statistics(visit)
        case .storage: try await storage(visit)
        case .events: try events(visit)
        case .sessions: try await listSessions(visit)
        case .attach: try await attach(visit)
        case .acknowledge: try await acknowledge(visit)
        case .detach: detach(visit)
        case .login: try await login(visit)
        case .makeCode: try Answer.json(CodeBody(codes.make(at: .sinceStart)), status: .created)
        }
    }

    private func greeting(_ visit: Visit) throws -> Response {
        try Answer.json(
            Greeting(
                version: FerryVersion.text, pid: Int(ProcessInfo.processInfo.processIdentifier),
                session: visit.session, boot: station.boot, port: addresses.port,
                confinement: confinement?.body))
    }

    private func login(_ visit: Visit) async throws -> Response {
        let code = try await visit.body(CodeBody.self).code
        switch codes.trade(code, at: .sinceStart) {
        case .good: return try Answer.json(TokenBody(token.text))
        case .wrong: throw Problem(.unauthorized, "The code is wrong, used or too old. Run ferry web for a new one.")
        case .tooMany: throw Problem(.tooMany, "Too many wrong codes. Try again in a minute.")
        }
    }

    /// Where downloads of a session go by default.
    func directory(of session: String) -> String {
        sessions.entry(session)?.directory ?? settings.current.directory
    }

    /// What clients over TCP may write to, for a session.
    func destinations(of session: String) -> DestinationPolicy {
        let own = directory(of: session)
        return DestinationPolicy(allowed: [own] + settings.current.allowedDirectories.filter { $0 != own })
    }

    /// The listed download that a path names. Throws `notFound`.
    func download(_ id: DownloadID) async throws(DownloadError) -> Download {
        guard let download = try await manager.download(id: id) else { throw notListed(id) }
        return download
    }

    func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow {
        guard let row = try await manager.rows([id]).first else { throw notListed(id) }
        return row
    }

    func notListed(_ id: DownloadID) -> DownloadError {
        DownloadError(.notFound, ErrorPhrase(.noDownload, APIText.quote(id.rawValue)), recovery: .needsUser)
    }
}
