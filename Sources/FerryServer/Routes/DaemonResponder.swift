import FerryAPI
import FerryCore
import HTTPTypes
public import HummingbirdCore
import Logging
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Answers every request: applies the access policy, then serves the page or the API. Every error becomes a problem.
final class DaemonResponder: Sendable {
    private let api: API
    private let logger: Logger
    /// The policy for the TCP port, which is final once the listener is bound.
    private let policy: Mutex<AccessPolicy>

    init(_ api: API, port: Int, logger: Logger) {
        self.api = api
        self.logger = logger
        policy = Mutex(AccessPolicy(port: port))
    }

    func listens(on port: Int) { policy.withLock { $0 = AccessPolicy(port: port) } }

    /// Answers a request. The connection identifies the user: the peer of the Unix socket is always the daemon's user.
    func respond(to request: Request, on channel: any Channel) async -> Response {
        let target = request.uri.string
        let path = Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        var response: Response
        do {
            response = try await answer(request, target, path, channel)
        } catch {
            let problem = Front.problem(error, at: path, logger)
            response =
                (problem.status == Problem(.misdirected).status
                    ? WrongHostPage.answer(request, path, port: policy.withLock { $0 }.port) : nil)
                ?? Answer.problem(problem, at: String(path))
        }
        Front.complete(&response)
        return response
    }

    private func answer(
        _ request: Request, _ target: String, _ path: Substring, _ channel: any Channel
    ) async throws -> Response {
        let isLocal = if case .unixDomainSocket? = channel.localAddress { true } else { false }
        let resource = Self.resource(request.method, path)
        let whole = target.split(at: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let query = whole.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        var token = isLocal ? nil : await api.tokens.identify(request.headers[values: .authorization], at: Date())
        var grant: ContentLinks.Grant?
        if !isLocal, token == nil, case .api(.found(.content, let identifier)) = resource {
            grant = api.grant(ofLink: query, to: identifier)
            token = grant?.token
        }
        var origin = AccessPolicy.RequestOrigin(request)
        origin.isLocal = isLocal
        origin.hasToken = token != nil || grant != nil
        if let refusal = policy.withLock({ $0 }).refusal(origin, to: resource) { throw refusal }
        if let token {
            api.connections.identify(channel, token: token)
            // The token may have been withdrawn before it was recorded for this connection.
            guard api.tokens.contains(token) else { throw Problem(.unauthorized, "The token was withdrawn.") }
        }
        switch resource {
        case .page: return try show(path, request)
        case .metrics: return try await MetricsResponder.answer(api.metrics)
        case .api(.none): throw Problem(.noSuchPath)
        case .api(.wrongMethod(let methods)):
            var response = Answer.problem(Problem(.methodNotAllowed), at: String(path))
            response.headers[.allow] = methods.map(\.rawValue).sorted().joined(separator: ", ")
            return response
        case .api(.found(let route, let identifier)):
            try checkVersion(request)
            let call = APIRequest(
                route: route, identifier: identifier, query: query, http: request, isLocal: isLocal,
                token: token, session: try session(of: request))
            return try await api.answer(call)
        }
    }

    /// Returns the resource of a path. All paths below /api, including unknown ones, belong to the API.
    static func resource(_ method: HTTPRequest.Method, _ path: Substring) -> AccessPolicy.Resource {
        if path.hasSameBytes(as: MetricsResponder.path) { return .metrics }
        guard path.hasSameBytes(as: "/api") || path.utf8.hasPrefix("/api/") else { return .page }
        guard path.hasSameBytes(as: FerryAPI.root) || path.utf8.hasPrefix(FerryAPI.root + "/") else {
            return .api(.none)
        }
        let rest = path.dropping(prefix: FerryAPI.root) ?? ""
        // Paths of the OpenAPI document begin with a slash, including the path of the greeting.
        return .api(Route.match(method, rest.hasSameBytes(as: "/") ? "" : rest))
    }

    private func checkVersion(_ request: Request) throws(Problem) {
        guard let name = HTTPField.Name(FerryAPI.versionHeader), let text = request.headers[name] else { return }
        guard let version = Int(text), (FerryAPI.minimumVersion...FerryAPI.version).contains(version) else {
            throw Problem(
                .versionMismatch,
                "This daemon speaks version \(FerryAPI.version) of the API: update the older one of client and daemon.")
        }
    }

    private func session(of request: Request) throws(DownloadError) -> String {
        guard let name = HTTPField.Name(FerryAPI.sessionHeader), let text = request.headers[name] else {
            return FerryAPI.defaultSession
        }
        try SessionStore.check(text)
        return text
    }

    private func show(_ path: Substring, _ request: Request) throws(Problem) -> Response {
        guard let asset = PageAssets.own.asset(at: path) else { throw Problem(.noSuchPath) }
        let gzip = ContentCoding.acceptsGzip(request.headers[values: .acceptEncoding]) ? asset.compressed : nil
        let form = gzip ?? asset.plain
        var headers: HTTPFields = [
            .contentType: asset.type, .eTag: form.tag, .cacheControl: "no-cache", .vary: "Accept-Encoding",
        ]
        headers[.contentSecurityPolicy] = Self.policy
        if gzip != nil { headers[.contentEncoding] = "gzip" }
        if request.headers[.ifNoneMatch] == form.tag { return Response(status: .notModified, headers: headers) }
        guard request.method == .get else {
            headers[.contentLength] = String(form.bytes.count)
            return Response(status: .ok, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: form.bytes)))
    }

    /// Allows only the daemon's own files, no inline code and no framing. Trusted Types keep text from servers from becoming code.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """
}

extension AccessPolicy.RequestOrigin {
    /// Reads the fields of a request. The result is not local and has no token.
    public init(_ request: Request) {
        let fields = request.headers
        // The first `Host` has become the authority; further `Host` fields are still header fields.
        var hosts = request.head.authority.map { [$0] } ?? []
        if let name = HTTPField.Name("Host") { hosts += fields[values: name] }
        self.init(method: request.method, target: request.uri.string, hosts: hosts)
        origins = fields[values: .origin]
        if let name = HTTPField.Name("Sec-Fetch-Site") { sites = fields[values: name] }
        contentTypes = fields[values: .contentType]
        if let mode = HTTPField.Name("Sec-Fetch-Mode"), let goal = HTTPField.Name("Sec-Fetch-Dest") {
            isNavigation = fields[values: mode] == ["navigate"] && fields[values: goal] == ["document"]
        }
        session = HTTPField.Name(FerryAPI.sessionHeader).flatMap { fields[$0] }
    }
}
