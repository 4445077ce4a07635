import AsyncHTTPClient
import FerryCore
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

extension HTTPTransport {
    package func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        var chain = FetchChain(request, settings: settings)
        while true {
            let fields = chain.fields(challenges: challenges, now: Date())
            let answer = try await hop(
                to: chain.url, fields: fields, headLimit: request.headLimit,
                allowsPrivate: request.allowsPrivate && settings.allowsPrivate)
            switch try chain.received(answer.head, challenges: challenges, now: Date()) {
            case .final:
                let body = TransferBody(of: answer, from: chain.url, owner: self)
                return TransferResponse(head: answer.head, url: chain.url, redirects: chain.redirects, body: body)
            case .again:
                await answer.discardBody()
            }
        }
    }

    /// One request on the wire, up to the head of its answer.
    ///
    /// A connection that is kept for further requests may be closed by the server just when the next one goes out:
    /// that says nothing about the server, so it is tried again at once, once, on whatever connection there is. One that
    /// brings no HTTP after it has brought some is gone, too: again, until a fresh one has said it.
    private func hop(
        to url: DownloadURL, fields: HTTPHeaders, headLimit: Duration, allowsPrivate: Bool
    ) async throws(TransferFailure) -> WireAnswer {
        let route = ProxyRoute(for: url, settings: settings.proxy)
        let peer = TransferFailure.Peer(
            authority: url.authority, proxy: route.name, addressFamily: settings.addressFamily)
        try checkLiteralAddress(of: url, route: route)
        if !allowsPrivate { try await checkIsPublic(url, route: route) }
        let client = try client(for: route)
        let deadline = NIODeadline.now() + TimeAmount(min(max(headLimit, .milliseconds(1)), .seconds(86400)))
        var triesAgain = true
        while true {
            // Through a proxy the other end of the connection is the proxy, which is the user's word.
            let hop = HTTPExchange(target: route.target(of: url), needsPublicPeer: !allowsPrivate && route.name == nil)
            do {
                return try await send(hop, to: url, via: route, fields: fields, client: client, deadline: deadline)
            } catch {
                if let peer = hop.refusedPeer { throw .privateAddress(peer, of: url) }
                let failure = TransferFailure.mapping(error, stage: .head(isAnswered: hop.isAnswered), peer: peer)
                // What follows an answer on a kept connection may be the rest of it: the next connection says more (A23).
                if failure.kind == .malformed, hop.isReused { continue }
                let wasDeadInPool = hop.isUnsent && (error as? ChannelError) == .ioOnClosedChannel
                if triesAgain, failure.kind == .closed, hop.isReused || wasDeadInPool {
                    triesAgain = false
                    continue
                }
                throw await refined(failure, isUnsent: hop.isUnsent, url: url, route: route)
            }
        }
    }

    private func send(
        _ hop: HTTPExchange, to url: DownloadURL, via route: ProxyRoute, fields: HTTPHeaders, client: HTTPClient,
        deadline: NIODeadline
    ) async throws -> WireAnswer {
        let number = hops.add(hop)
        defer { hops.remove(number) }
        var request = HTTPClientRequest(url: route.connectURL(of: url))
        request.headers = fields
        if let authorization = route.forwardedAuthorization {
            request.headers.add(name: "Proxy-Authorization", value: authorization)
        }
        request.headers.add(name: HTTPExchange.fieldName, value: String(number))
        request.localAddress = settings.addressFamily.wildcard
        let response = try await client.execute(request, deadline: deadline)
        if response.status == .proxyAuthenticationRequired, let proxy = route.name {
            throw TransferFailure(.proxy, ErrorPhrase(.proxyAsksForCredentials, proxy), isTransient: false)
        }
        return WireAnswer(response, to: hop)
    }

    /// An address in the URL is not looked up: say so when it is of the family that was not wanted.
    private func checkLiteralAddress(of url: DownloadURL, route: ProxyRoute) throws(TransferFailure) {
        guard settings.addressFamily != .any, route.name == nil,
            let address = try? SocketAddress(ipAddress: url.host, port: url.port)
        else { return }
        switch (settings.addressFamily, address) {
        case (.v4, .v6):
            throw TransferFailure(.wrongFamily, ErrorPhrase(.addressOfOtherVersion, url.authority, "IPv4"))
        case (.v6, .v4):
            throw TransferFailure(.wrongFamily, ErrorPhrase(.addressOfOtherVersion, url.authority, "IPv6"))
        default: return
        }
    }

    /// Refuses what can be known to be private before anything is connected. Of the addresses of a name all must be public;
    /// which of them a connection led to is looked at again then (``RequestTargetHandler``), so that a name that has other addresses
    /// by that time gains nothing.
    private func checkIsPublic(_ url: DownloadURL, route: ProxyRoute) async throws(TransferFailure) {
        if let address = IPAddress(url.host) {
            guard PrivateAddress.kind(of: address) == nil else { throw .privateAddress(url.host, of: url) }
            return
        }
        guard route.name == nil else {
            // The proxy looks it up: only what the name itself says can be known here.
            if PrivateAddress.kind(ofHost: url.host) != nil { throw .privateAddress(url.host, of: url) }
            return
        }
        if let address = await lookUp(url.host).first(where: { PrivateAddress.kind(of: $0) != nil }) {
            throw .privateAddress("\(address)", of: url)
        }
    }

    /// Says more about a failure than the error that it came from.
    private func refined(
        _ failure: TransferFailure, isUnsent: Bool, url: DownloadURL, route: ProxyRoute
    ) async -> TransferFailure {
        switch failure.kind {
        case .dns(permanent: false):
            // NIO does not say why a name has no address: ask once more, for the reason.
            guard await HostLookup.isMissing(route.lookedUpHost(for: url)) else { return failure }
            let host = route.name.map { Reason.phrase(ErrorPhrase(.proxyNamed, $0)) } ?? .words(url.host)
            return TransferFailure(.dns(permanent: true), ErrorPhrase(.noSuchHost, host))
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
    /// The address to bind a socket to so that it can only reach this family.
    ///
    /// AsyncHTTPClient resolves and connects by itself. A socket bound to the wildcard of one family cannot be connected
    /// to an address of the other, so that of a name's addresses only those of this family remain; nothing is looked up
    /// twice, and connections are pooled by it.
    var wildcard: String? {
        switch self {
        case .any: nil
        case .v4: "0.0.0.0"
        case .v6: "::"
        }
    }
}
