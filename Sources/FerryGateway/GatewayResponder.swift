import Crypto
import Ferry
import FerryAPI
import FerryCore
import FerryMetrics
import FerryServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Responds to the requests to the gateway. Files are downloads in the ``GatewayCache``; other responses of the upstreams are
/// passed through.
///
/// - The upstream decides about each client. Cached bytes that are not public are sent only after the upstream has accepted the
///   client's own credentials for exactly these bytes (``GatewayConsent``). If its response is about other content, the request
///   is passed through.
/// - Credentials are sent only to the upstream's origin.
/// - The last piece of a file is sent only after its digest has been verified, so that wrong bytes never look complete.
final class GatewayResponder: Door {
    /// The name that identifies connections of the gateway's clients.
    static let tokenName = "gateway"
    /// The maximum size of an index page, which is rewritten in memory.
    static let mostPageBytes = 64 << 20
    /// The maximum size of the content of a request.
    static let mostBytes = 1 << 20
    /// The time for which the upstream's consent to a client's credentials is valid.
    private static let consentTime: Duration = .seconds(300)

    let name = "gateway"
    let port: Int
    let option = "--gateway-port"
    let host: DoorHost
    let cache: GatewayCache
    let key: GatewayLink.Key
    /// The users whose programs may use the gateway.
    private let users: AdmittedUsers
    let peers: PeerRule
    private let upstreams: [GatewayUpstream]
    /// The budget for the memory of all pages and of texts made from them.
    let budget: BodyBudget
    let limits: GatewayLimits
    let pages: GatewayPages
    /// Whether the log has a line for each request.
    private let logsRequests: Bool
    private let access: Mutex<ProgramAccess>
    private let salt = SymmetricKey(size: .bits256)
    private let consents = Mutex(
        RecentValues<Data, (consent: GatewayConsent, until: ContinuousClock.Instant)>(capacity: 1000))
    /// For each host of an upstream whose name has been resolved, whether its address is private.
    private let privacy = Mutex<[String: Bool]>([:])

    init(
        _ host: DoorHost, _ cache: GatewayCache, key: GatewayLink.Key, pages: GatewayPages,
        upstreams: [GatewayUpstream], users: AdmittedUsers, port: Int, limits: GatewayLimits, logsRequests: Bool
    ) {
        self.limits = limits
        self.pages = pages
        self.logsRequests = logsRequests
        budget = BodyBudget(limits.pageBudget, ofOther: limits.pageBudget / 2)
        self.host = host
        self.cache = cache
        self.key = key
        self.upstreams = upstreams
        self.users = users
        peers = PeerRule(admitting: users, of: host, proxyPath: GatewayRoute.archives) { [counts = cache.counts] user in
            GatewayResponder.refusal(of: user, counts, host.logger)
        }
        self.port = port
        access = Mutex(ProgramAccess(port: port))
    }

    var manager: DownloadManager { host.manager }
    var digests: ArchiveDigests { cache.digests }
    private var counts: GatewayCounts { cache.counts }
    var logger: Logger { host.logger }

    func handlers() -> [any RemovableChannelHandler] { [ClientWatch.Handler()] }

    func listens(on port: Int) { access.withLock { $0.port = port } }

    func announcement(port: Int, showsSecret: Bool) -> String { "gateway http://127.0.0.1:\(port)/" }

    func heard(_ event: DownloadEvent) { cache.ends.notify() }

    func run() async {
        await withTaskGroup(of: Void.self) { [cache, digests] group in
            group.addTask { await cache.run() }
            group.addTask { await digests.run() }
        }
    }

    func families() async -> [MetricFamily] {
        let free = await onFileThread { [directory = cache.directory] in DiskSpace.free(at: directory) }
        return counts.families(size: cache.size, free: free)
    }

    /// Returns the problem for a program of a user who may not use the gateway, and logs it.
    private static func refusal(of number: UInt32, _ counts: GatewayCounts, _ logger: Logger) -> Problem {
        let name = DoorHost.name(ofUser: number)
        if let count = counts.refused(user: number, at: .now) {
            logger.warning(
                "the gateway refused another user",
                metadata: ["user": "\(name)", "number": "\(number)", "connections": "\(count)"])
        }
        return Problem(
            status: 403, code: Problem.Code.forbidden.rawValue,
            title: "Forbidden (not for user \(name): see --gateway-users)",
            detail: """
                This gateway is not for programs of the user \(name). Its own user admits others with \
                ferry serve --gateway-users \(name).
                """)
    }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        let target = Substring(request.uri.string)
        let note = GatewayNote()
        var response: Response
        do {
            if let refusal = access.withLock({ $0 }).refusal(AccessPolicy.RequestOrigin(request)) { throw refusal }
            host.identify(channel, as: Self.tokenName, admittedBy: peers)
            response = try await answer(request, target, channel, note)
        } catch {
            let problem = problem(error, at: target)
            note.refused(problem.code)
            response = DoorHost.response(to: problem, reason: GatewayText.reason(problem))
            logger.info(
                "the gateway refused a request",
                metadata: [
                    "path": "\(GatewayText.path(target))",
                    "status": "\(problem.status)", "reason": "\(GatewayText.reason(problem))",
                ])
        }
        let status = response.status.code
        return await note.following(response) { [self] end in
            counts.answered(end)
            await log(request, target, channel, status, end)
        }
    }

    /// Logs a request: at the level `info` if the setting is on, otherwise at the level that `-v` shows.
    private func log(
        _ request: Request, _ target: Substring, _ channel: any Channel, _ status: Int, _ end: GatewayNote.End
    ) async {
        let level: Logger.Level = logsRequests ? .info : .debug
        guard logger.logLevel <= level else { return }
        var user = "-"
        if let number = await ClientWatch.user(of: channel) {
            user = await onFileThread { DoorHost.name(ofUser: number) }
        }
        var metadata: Logger.Metadata = [
            "user": "\(user)", "method": "\(GatewayText.visible(request.method.rawValue))",
            "status": "\(status)", "path": "\(GatewayText.path(target))", "bytes": "\(end.bytes)",
            "result": "\(end.result.rawValue)",
        ]
        if let reason = end.reason { metadata["reason"] = "\(GatewayText.visible(reason))" }
        logger.log(level: level, "gateway", metadata: metadata)
    }

    private func answer(
        _ request: Request, _ target: Substring, _ channel: any Channel, _ note: GatewayNote
    ) async throws -> Response {
        guard let route = GatewayRoute(target) else { throw Problem(.noSuchPath) }
        note.concerns(route.kind)
        guard request.method == .get || request.method == .head || route.kind == .hf && request.method == .post else {
            throw Problem(.methodNotAllowed, "The gateway is for reading.")
        }
        guard let upstream = upstreams.first(where: { route.isFor($0) }) else {
            let reason =
                upstreams.contains { $0.kind == route.kind }
                ? "This URL is not below an upstream of this gateway for \(route.kind)"
                : "This gateway has no upstream for \(route.kind)"
            throw Problem(.noSuchPath, "\(reason): see --gateway-upstream \(route.kind)=URL.")
        }
        let allowsPrivate = await isPrivate(upstream.base.host)
        let claimant = users.claimant(await ClientWatch.user(of: channel))
        let visit = Visit(
            http: request, channel: channel, upstream: upstream, allowsPrivate: allowsPrivate,
            claimant: claimant, note: note)
        switch route {
        case .index(let rest): return try await index(rest, visit)
        case .link(let path): return try await link(path, visit)
        case .hub(let rest): return try await hub(rest, visit)
        case .registry(let rest): return try await registry(rest, visit)
        case .archive(let rest): return try await archive(rest, visit)
        }
    }

    /// A request to one upstream.
    struct Visit: Sendable {
        let http: Request
        /// The client's connection.
        let channel: any Channel
        let upstream: GatewayUpstream
        /// Whether the upstream is on this machine or its network, so that its links may lead there too.
        let allowsPrivate: Bool
        /// The user to whom the request belongs.
        let claimant: Claimant
        /// The record of the request's result.
        let note: GatewayNote

        /// Whether the client requests the upstream's current version.
        var wantsFresh: Bool { http.headers[.cacheControl]?.lowercased().utf8.contains("no-cache") == true }

        /// Whether the client has sent credentials.
        var hasSecrets: Bool { http.headers[.authorization] != nil || http.headers[.cookie] != nil }

        /// Returns the URL of a path below the upstream. Throws if the path leads elsewhere.
        func url(_ rest: Substring) throws(Problem) -> DownloadURL {
            guard let url = upstream.url(rest) else { throw Problem(.badRequest, "The path is not of this gateway.") }
            return url
        }

        /// Returns the client's fields for a request to `url`. Secret fields are included only for the upstream's origin.
        func fields(for url: DownloadURL, conditional: Bool = false) -> HTTPFields {
            let fields = GatewayFields.forwarded(http.headers, conditional: conditional)
            let home = upstream.base.origin
            return SecretScope(home: home, headers: fields, credentials: nil, source: url).headers(for: url)
        }
    }

    private func isPrivate(_ host: String) async -> Bool {
        if let known = privacy.withLock({ $0[host] }) { return known }
        guard let found = await DownloadManager.isPrivate(host) else { return false }
        privacy.withLock { $0[host] = found }
        return found
    }

    // MARK: Upstream

    /// Forwards a client's request to `url`, with its secrets only if this is the upstream's origin.
    func exchange(
        _ visit: Visit, _ method: HTTPRequest.Method, _ url: DownloadURL, conditional: Bool = false,
        follows: Bool = true, own: HTTPFields = HTTPFields(), content: ByteBuffer? = nil
    ) async throws(DownloadError) -> GatewayAnswer {
        var request = UpstreamRequest(url)
        request.method = method
        request.headers = visit.fields(for: url, conditional: conditional)
        request.own = own
        request.content = content
        request.followsRedirects = follows
        request.allowsPrivate = visit.allowsPrivate
        return GatewayAnswer(try await manager.exchange(request))
    }

    /// Passes a request and any response of the upstream through. `prefix` is the path of the gateway for the upstream.
    ///
    /// - Parameter whole: Called with the whole content of a successful response before its end is sent, as in ``relay``.
    func pass(
        _ visit: Visit, _ url: DownloadURL, prefix: String, whole: (@Sendable (ByteBuffer?) -> Void)? = nil
    ) async throws -> Response {
        let answer = try await answer(visit, url)
        return relay(answer, visit, prefix: prefix) { [self] bytes in
            if let bytes { await keep(visit, url, answer, bytes) }
            if answer.head.status == 200, visit.http.method == .get { whole?(bytes) }
        }
    }

    /// Forwards a request unchanged.
    func send(_ visit: Visit, _ url: DownloadURL) async throws -> GatewayAnswer {
        var own = HTTPFields()
        var content: ByteBuffer?
        if visit.http.method == .post {
            var share = budget.share(for: visit.claimant)
            content = ByteBuffer(bytes: try await DoorHost.body(of: visit.http, most: Self.mostBytes, &share))
            own[.contentType] = visit.http.headers[.contentType]
            own[.contentLength] = content.map { String($0.readableBytes) }
        }
        return try await exchange(visit, visit.http.method, url, conditional: true, own: own, content: content)
    }

    /// Returns the response of an upstream as a response of the gateway.
    ///
    /// - Parameter isHead: Whether it is the response to a HEAD request, which has no content whatever its fields state.
    /// - Parameter sent: Called with the whole content of a small response before its last bytes are sent; with `nil` if the
    ///   content was too large or too slow, or if there was no room for a copy.
    func relay(
        _ answer: GatewayAnswer, _ visit: Visit, prefix: String, isHead: Bool = false,
        sent: (@Sendable (ByteBuffer?) async -> Void)? = nil
    ) -> Response {
        var fields = GatewayFields.relayed(answer.head) { link in
            (try? answer.url.resolving(link)).flatMap { visit.upstream.rest(of: $0) }.map { prefix + $0 }
        }
        let length = answer.head.single(.contentLength).flatMap { Int($0) }
        let status = HTTPResponse.Status(code: answer.head.status)
        if visit.http.method == .head || answer.head.status == 304 {
            fields[.contentLength] = length.map { String($0) }
            return Response(status: status, headers: fields)
        }
        if isHead { return Response(status: status, headers: fields) }
        return Response(
            status: status, headers: fields,
            body: ResponseBody(contentLength: length) { [limits, budget] writer in
                var copy = PageCopy(
                    budget.share(for: visit.claimant), until: .now + limits.pageTime, isWanted: sent != nil)
                var last: ByteBuffer?
                // allow(body): streamed to a client, which ends it; its copy has a deadline.
                while let piece = try await Self.next(answer.body, within: limits.pageIdle) {
                    if let last { try await writer.write(last) }
                    last = piece
                    copy.add(piece, at: .now)
                }
                let whole = copy.bytes
                if length == nil || whole == nil || whole?.readableBytes == length { await sent?(whole) }
                copy.end()
                if let last { try await writer.write(last) }
                try await writer.finish(nil)
            })
    }

    // MARK: Consent

    /// The decision of an upstream about a client and a file.
    enum Verdict {
        /// The bytes are public; no request was sent.
        case open
        /// The upstream has consented, either recently or in this response to HEAD.
        case given(GatewayConsent, GatewayAnswer?)
        /// The server is down, and the cache has the file for everybody or for this client.
        case stale(Download)
        /// The response is about something other than the content of the cache, so the request is passed through.
        case other
    }

    /// Determines, if necessary with a request to the upstream, whether this client may receive a file.
    ///
    /// - Parameter match: The download whose bytes are to be sent.
    ///
    /// Throws the upstream's refusal as a response for the client.
    func consent(_ visit: Visit, to file: GatewayFile, _ match: Download?) async throws -> Verdict {
        if file.checksum != nil {
            // apt resumes a file by its date, which is known only for a complete download or from a request.
            if cache.isOpen(match, file), file.kind != .apt || match?.status.state.isFinal == true { return .open }
            if let known = consents.withLock({ $0[fingerprint(visit, file)] }), known.until > .now,
                match.map({ known.consent.isAbout($0.snapshot, as: file) }) ?? true
            {
                return .given(known.consent, nil)
            }
        }
        var answer: GatewayAnswer
        do throws(DownloadError) { answer = try await exchange(visit, .head, file.url) } catch {
            if let found = try await stale(visit, file, match) { return .stale(found) }
            throw error
        }
        if GatewayAnswer.isDown(answer.head.status), let found = try await stale(visit, file, match) {
            return .stale(found)
        }
        if [405, 501].contains(answer.head.status) {
            // The server does not support HEAD. The body of the response to GET is not read.
            answer = try await exchange(visit, .get, file.url)
        }
        guard 200...299 ~= answer.head.status else { throw Refusal(answer: answer) }
        let consent = GatewayConsent(answer.head, at: answer.url, of: file)
        guard !consent.isPage, match.map({ consent.isAbout($0.snapshot, as: file) }) ?? true else { return .other }
        consents.withLock { $0[fingerprint(visit, file)] = (consent, .now + Self.consentTime) }
        return .given(consent, answer)
    }

    /// Returns the complete download for a file whose server is down. It must be public, or the server must have accepted the
    /// same credentials for it since the daemon started.
    private func stale(_ visit: Visit, _ file: GatewayFile, _ match: Download?) async throws -> Download? {
        var found = match
        if file.checksum == nil { found = try await cache.latest(of: file.url) }
        guard let found, case .completed = found.status.state else { return nil }
        let isOpen = found.request.userInfo == GatewayFile.isOpen
        let known = consents.withLock { $0[fingerprint(visit, file)] }
        guard isOpen || known?.consent.isAbout(found.snapshot, as: file) == true else { return nil }
        logger.notice("a file of the cache is sent while its server is down", metadata: ["id": "\(found.id)"])
        return found
    }

    /// An upstream's refusal, to be passed on.
    struct Refusal: Error { let answer: GatewayAnswer }

    /// Returns a digest of a client's secrets and of the file that they give access to. It cannot be computed or reversed without
    /// this process's salt.
    private func fingerprint(_ visit: Visit, _ file: GatewayFile) -> Data {
        let fields = visit.http.headers
        let secrets = fields[values: .authorization] + [""] + fields[values: .cookie]
        let text = ([file.url.text, file.key] + secrets).joined(separator: "\n")
        return Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: salt))
    }

    private func problem(_ error: any Error, at target: Substring) -> Problem {
        switch error {
        case var error as DownloadError:
            // The suggestion is for the user of a download, who could drop its checksum.
            error.suggestion = nil
            // A failure of an upstream must not be reported as an error of the client.
            var problem = Problem(error)
            if problem.status < 500 { problem.status = 502 }
            return problem
        case is ClientWatch.Gone: return Problem(.shuttingDown)
        default: return host.problem(error, at: Substring(GatewayText.path(target)))
        }
    }
}
