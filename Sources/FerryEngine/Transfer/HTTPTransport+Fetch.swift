import AsyncHTTPClient
import FerryCore
import HTTPTypes
import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPTransport {
    package func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        if request.url.isObject { return try await fetchObject(request) }
        let own = settings
        // The user's proxy may have any address. But if private addresses are forbidden, a download must not reach them through
        // a proxy that its request specifies.
        if !own.allowsPrivate, request.connection.proxy?.server != nil {
            throw TransferFailure(.privateAddress, ErrorPhrase(.ownProxy, request.url.redacted))
        }
        var settings = own.with(request.connection)
        settings.allowsPrivate = own.allowsPrivate && request.allowsPrivate
        return try await fetch(request, settings)
    }

    /// Sends a request with these settings instead of the transport's.
    func fetch(
        _ request: TransferRequest, _ settings: TransferSettings
    ) async throws(TransferFailure) -> sending TransferResponse {
        var chain = FetchChain(request, settings: settings)
        let trace = TransferTrace(request, settings)
        var links = LinkField()
        var isContinued = false
        while true {
            let fields = chain.fields(challenges: challenges, now: Date())
            let url = chain.url
            trace?.sends(fields, to: url)
            let answer = try await admitted(
                request, to: url, fields: fields, continues: isContinued, settings, trace)
            isContinued = true
            links.add(answer.head, from: url)
            let step = try chain.received(answer.head, challenges: challenges, now: Date())
            trace?.received(answer.head, from: url, to: chain.url == url ? nil : chain.url)
            switch step {
            case .final:
                let body = TransferBody(of: answer, from: chain.url)
                var response = TransferResponse(
                    head: answer.head, url: chain.url, redirects: chain.redirects, body: body)
                response.wasAuthorized = chain.isAuthorized
                response.links = links
                return response
            case .again:
                await answer.discardBody()
            }
        }
    }

    /// Performs one request, up to its response head, as soon as its host admits it.
    private func admitted(
        _ asked: TransferRequest, to url: DownloadURL, fields: HTTPHeaders, continues: Bool,
        _ settings: TransferSettings, _ trace: TransferTrace?
    ) async throws(TransferFailure) -> WireAnswer {
        guard let admission = asked.admission else {
            return try await hop(asked, to: url, fields: fields, settings, trace)
        }
        // allow(origin): the budget of a host; carries no secret.
        let start = try await admission.begin(url.origin, continues: continues)
        do throws(TransferFailure) {
            let answer = try await hop(asked, to: url, fields: fields, settings, trace)
            // allow(origin): as above.
            admission.answered(url.origin, answer.head)
            return answer
        } catch {
            // allow(origin): as above.
            if asked.judgesHost { admission.failed(url.origin, error, since: start) }
            throw error
        }
    }

    /// Performs one request, up to its response head.
    ///
    /// A server may close a kept-alive connection just as the next request is sent. That does not indicate a fault of the
    /// server, so the request is retried once, immediately, on any connection. A malformed response on a reused connection is
    /// retried until a new connection confirms it.
    func hop(
        _ asked: TransferRequest, to url: DownloadURL, fields: HTTPHeaders, _ settings: TransferSettings,
        _ trace: TransferTrace?
    ) async throws(TransferFailure) -> WireAnswer {
        let deadline = NIODeadline.now() + TimeAmount(min(max(asked.headLimit, .milliseconds(1)), .seconds(86400)))
        let route = ProxyRoute(for: url, settings: settings.proxy)
        let peer = TransferFailure.Peer(
            authority: url.authority, proxy: route.name, addressFamily: settings.addressFamily)
        try checkLiteralAddress(of: url, route: route, settings.addressFamily)
        if !settings.allowsPrivate { try await checkIsPublic(url, route: route) }
        try await checkName(of: url, route: route, settings, peer)
        let client: RouteClient
        do { client = try self.client(for: route, settings) } catch {
            throw TransferFailure.mapping(error, stage: .head(isAnswered: false), peer: peer)
        }
        var triesAgain = true
        while true {
            // Through a proxy the peer is the proxy itself, which the user configured.
            let exchange = HTTPExchange(
                target: route.target(of: url), needsPublicPeer: !settings.allowsPrivate && route.name == nil,
                trace: trace, observe: asked.observe)
            do {
                return try await send(
                    asked, as: exchange, to: url, via: route, fields: fields, client,
                    from: settings.addressFamily.wildcard, deadline: deadline)
            } catch {
                if let peer = exchange.refusedPeer { throw .privateAddress(peer, of: url) }
                let failure = TransferFailure.mapping(error, stage: .head(isAnswered: exchange.isAnswered), peer: peer)
                // On a reused connection the bytes may be the rest of an earlier response, so retry until a new connection
                // confirms them.
                if failure.kind == .malformed, exchange.isReused { continue }
                let wasDeadInPool = exchange.isUnsent && (error as? ChannelError) == .ioOnClosedChannel
                if triesAgain, failure.kind == .closed, exchange.isReused || wasDeadInPool {
                    triesAgain = false
                    continue
                }
                throw await refined(failure, isUnsent: exchange.isUnsent, url: url, route: route, settings)
            }
        }
    }

    private func send(
        _ asked: TransferRequest, as exchange: HTTPExchange, to url: DownloadURL, via route: ProxyRoute,
        fields: HTTPHeaders, _ client: RouteClient, from localAddress: String?, deadline: NIODeadline
    ) async throws -> WireAnswer {
        let number = exchanges.add(exchange)
        defer { exchanges.remove(number) }
        var request = HTTPClientRequest(url: route.connectURL(of: url))
        // Not `.RAW`: the client adds `Content-Length: 0` to a raw GET, which some servers refuse.
        request.method = NIOHTTP1.HTTPMethod(rawValue: asked.method.rawValue)
        if let upload = asked.upload {
            request.body = .stream(upload.pieces, length: .known(upload.length))
        } else if let content = asked.content {
            request.body = .bytes(content)
        }
        request.headers = fields
        if let authorization = route.forwardedAuthorization {
            request.headers.add(name: "Proxy-Authorization", value: authorization)
        }
        request.headers.add(name: HTTPExchange.fieldName, value: String(number))
        request.localAddress = localAddress
        let response = try await client.http.execute(request, deadline: deadline)
        if response.status == .proxyAuthenticationRequired, let proxy = route.name {
            throw TransferFailure(.proxy, ErrorPhrase(.proxyAsksForCredentials, proxy), isTransient: false)
        }
        return WireAnswer(response, to: exchange, via: client, hasBody: asked.method != .head)
    }

    /// Throws if the URL's literal address, which needs no lookup, is of an address family that is not allowed.
    private func checkLiteralAddress(
        of url: DownloadURL, route: ProxyRoute, _ family: TransferSettings.AddressFamily
    ) throws(TransferFailure) {
        guard family != .any, route.name == nil,
            let address = try? SocketAddress(ipAddress: url.host, port: url.port)
        else { return }
        switch (family, address) {
        case (.v4, .v6):
            throw TransferFailure(.wrongFamily, ErrorPhrase(.addressOfOtherVersion, url.authority, "IPv4"))
        case (.v6, .v4):
            throw TransferFailure(.wrongFamily, ErrorPhrase(.addressOfOtherVersion, url.authority, "IPv6"))
        default: return
        }
    }

    /// Refuses private addresses before connecting: all addresses of a name must be public. ``HTTPExchangeHandler`` checks the
    /// connected address again, in case the name resolves differently by then (DNS rebinding).
    private func checkIsPublic(_ url: DownloadURL, route: ProxyRoute) async throws(TransferFailure) {
        if let address = IPAddress(url.host) {
            guard PrivateAddress.kind(of: address) == nil else { throw .privateAddress(url.host, of: url) }
            return
        }
        guard route.name == nil else {
            // The proxy resolves the name, so only the name itself can be checked here.
            if PrivateAddress.kind(ofHost: url.host) != nil { throw .privateAddress(url.host, of: url) }
            return
        }
        if let address = await lookUp(url.host).first(where: { PrivateAddress.kind(of: $0) != nil }) {
            throw .privateAddress("\(address)", of: url)
        }
    }

    /// Resolves the host to connect to, unless the answer is known. A name without an address fails here without another query,
    /// and a slow resolver delays only this request: AsyncHTTPClient, which resolves the name again for each new connection, has
    /// one thread for all names of an event loop.
    private func checkName(
        of url: DownloadURL, route: ProxyRoute, _ settings: TransferSettings, _ peer: TransferFailure.Peer
    ) async throws(TransferFailure) {
        let host = route.lookedUpHost(for: url)
        guard let names, IPAddress(host) == nil else { return }
        switch await names.answer(for: host, within: settings.connectTimeout) {
        case .addresses?: return
        case .missing?: throw noSuchHost(host, route)
        case .failed?: throw TransferFailure(.dns(permanent: false), ErrorPhrase(.noAddress, peer.name))
        case nil where Task.isCancelled: throw TransferFailure(.cancelled, ErrorPhrase(.stopped))
        case nil: throw TransferFailure(.connectTimeout, ErrorPhrase(.noConnectionInTime, peer.name))
        }
    }

    private func noSuchHost(_ host: String, _ route: ProxyRoute) -> TransferFailure {
        let host = route.name.map { Reason.phrase(ErrorPhrase(.proxyNamed, $0)) } ?? .words(host)
        return TransferFailure(.dns(permanent: true), ErrorPhrase(.noSuchHost, host))
    }

    /// Adds information to a failure that the original error lacks.
    func refined(
        _ failure: TransferFailure, isUnsent: Bool, url: DownloadURL, route: ProxyRoute, _ settings: TransferSettings
    ) async -> TransferFailure {
        switch failure.kind {
        case .dns(permanent: false):
            // NIO does not report why a name has no address, so query the resolver for the reason.
            let host = route.lookedUpHost(for: url)
            return await HostNames.shared.answer(for: host) == .missing ? noSuchHost(host, route) : failure
        case .certificate where failure.phrase.key == .untrusted && route.name == nil && settings.allowsPrivate:
            // If private addresses are forbidden, the second connection could lead to one.
            let inquiry = CertificateInquiry(
                group: group ?? Self.eventLoops, localAddress: settings.addressFamily.wildcard)
            let name = Reason.words(url.authority)
            let phrase = await inquiry.phrase(host: url.host, port: url.port, name: name, at: clock.date())
            return phrase.map { TransferFailure(.certificate, $0) } ?? failure
        case .closed where isUnsent && route.name != nil:
            return TransferFailure(.proxy, ErrorPhrase(.proxyClosed, route.name ?? ""))
        case .closed where isUnsent && url.scheme == .https:
            return TransferFailure(.tls, ErrorPhrase(.closedInHandshake, url.authority))
        default:
            return failure
        }
    }
}

extension TransferSettings.AddressFamily {
    /// The local address to bind to so that a socket can reach only this family.
    ///
    /// AsyncHTTPClient resolves and connects by itself. A socket bound to the wildcard of one family cannot connect
    /// to an address of the other, which leaves only this family's addresses without a second lookup or a change to
    /// pooling.
    var wildcard: String? {
        switch self {
        case .any: nil
        case .v4: "0.0.0.0"
        case .v6: "::"
        }
    }
}
