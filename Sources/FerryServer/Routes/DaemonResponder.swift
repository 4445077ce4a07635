import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Answers every request: the door first, then the page or the API; whatever goes wrong becomes a problem.
final class DaemonResponder: HTTPResponder {
    typealias Context = DaemonContext

    private let api: API
    private let page = PageAssets()
    private let token: AccessToken
    private let logger: Logger
    /// The port that is listened on, once it is known.
    private let door: Mutex<DoorPolicy>

    init(_ api: API, token: AccessToken, port: Int, logger: Logger) {
        self.api = api
        self.token = token
        self.logger = logger
        door = Mutex(DoorPolicy(port: port))
    }

    func listens(on port: Int) { door.withLock { $0 = DoorPolicy(port: port) } }

    func respond(to request: Request, context: DaemonContext) async throws -> Response {
        let target = request.uri.string
        let path = target.prefix { $0 != "?" && $0 != "#" }
        var response: Response
        do {
            response = try await answer(request, target, path, isLocal: context.isLocal)
        } catch {
            response = Answer.problem(problem(error, path), at: String(path))
        }
        Self.dress(&response)
        return response
    }

    private func answer(
        _ request: Request, _ target: String, _ path: Substring, isLocal: Bool
    ) async throws -> Response {
        let room = Self.room(request.method, path)
        if let refusal = door.withLock({ $0 }).refusal(knock(request, target, isLocal: isLocal), to: room) {
            throw refusal
        }
        switch room {
        case .page: return try show(path, request)
        case .api(.none): throw Problem(.noSuchPath)
        case .api(.wrongMethod(let methods)):
            var response = Answer.problem(Problem(.methodNotAllowed), at: String(path))
            response.headers[.allow] = methods.map(\.rawValue).sorted().joined(separator: ", ")
            return response
        case .api(.found(let route, let identifier)):
            try checkVersion(request)
            let query = target.firstIndex(of: "?").map { target[target.index(after: $0)...].prefix { $0 != "#" } }
            let visit = Visit(
                route: route, identifier: identifier, query: query, request: request, isLocal: isLocal,
                session: try session(of: request))
            return try await api.answer(visit)
        }
    }

    /// What a path leads to: everything below /api is the API's, also what it does not have.
    static func room(_ method: HTTPRequest.Method, _ path: Substring) -> DoorPolicy.Room {
        guard path == "/api" || path.hasPrefix("/api/") else { return .page }
        guard path == FerryAPI.root || path.hasPrefix(FerryAPI.root + "/") else { return .api(.none) }
        return .api(Route.match(method, path.dropFirst(FerryAPI.root.count)))
    }

    private func knock(_ request: Request, _ target: String, isLocal: Bool) -> DoorPolicy.Knock {
        let fields = request.headers
        // The first Host has become the authority; further ones stay among the fields.
        var hosts = request.head.authority.map { [$0] } ?? []
        if let name = HTTPField.Name("Host") { hosts += fields[values: name] }
        var knock = DoorPolicy.Knock(method: request.method, target: target, hosts: hosts)
        knock.origins = fields[values: .origin]
        if let name = HTTPField.Name("Sec-Fetch-Site") { knock.sites = fields[values: name] }
        knock.contentTypes = fields[values: .contentType]
        knock.isLocal = isLocal
        knock.hasToken = !isLocal && token.isCarried(by: fields[values: .authorization])
        return knock
    }

    private func checkVersion(_ request: Request) throws(Problem) {
        guard let name = HTTPField.Name(FerryAPI.versionHeader), let text = request.headers[name] else { return }
        guard let version = Int(text), (FerryAPI.minimumVersion...FerryAPI.version).contains(version) else {
            throw Problem(
                .versionMismatch,
                "This daemon speaks version \(FerryAPI.minimumVersion) to \(FerryAPI.version) of the API.")
        }
    }

    private func session(of request: Request) throws(DownloadError) -> String {
        guard let name = HTTPField.Name(FerryAPI.sessionHeader), let text = request.headers[name] else {
            return FerryAPI.defaultSession
        }
        try SessionBook.check(text)
        return text
    }

    private func show(_ path: Substring, _ request: Request) throws(Problem) -> Response {
        guard let asset = page.asset(at: path) else { throw Problem(.noSuchPath) }
        var headers: HTTPFields = [.contentType: asset.type, .eTag: asset.tag, .cacheControl: "no-cache"]
        headers[.contentSecurityPolicy] = Self.policy
        if request.headers[.ifNoneMatch] == asset.tag { return Response(status: .notModified, headers: headers) }
        guard request.method == .get else {
            headers[.contentLength] = String(asset.bytes.count)
            return Response(status: .ok, headers: headers)
        }
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// Only what is ours, and nothing inline; no frame around it, and nothing a server said becomes code.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// What every answer carries.
    private static func dress(_ response: inout Response) {
        func set(_ name: String, _ value: String) {
            if let name = HTTPField.Name(name), response.headers[name] == nil { response.headers[name] = value }
        }
        set(FerryAPI.versionHeader, String(FerryAPI.version))
        set("X-Content-Type-Options", "nosniff")
        set("Referrer-Policy", "no-referrer")
        set("X-Frame-Options", "DENY")
        set("Cross-Origin-Resource-Policy", "same-origin")
        set("Cross-Origin-Opener-Policy", "same-origin")
        set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        set("Cache-Control", "no-store")
    }

    private func problem(_ error: any Error, _ path: Substring) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as DownloadError: return Problem(error)
        case is CancellationError: return Problem(.shuttingDown)
        default:
            logger.error("a request failed", metadata: ["path": "\(path)", "error": "\(error)"])
            return Problem(.internal)
        }
    }
}
