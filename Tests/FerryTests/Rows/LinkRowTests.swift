import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry
@testable import FerryEngine

/// Redirects, secrets, expired links, and Retry-After (A33–A38).
@Suite("Redirects and expired links", .timeLimit(.minutes(30)))
struct LinkRowTests {
    private static var encrypted: OriginServer.Configuration {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        return configuration
    }

    @Test("Redirect: https to http is refused with the option that allows it, and followed when allowed (A34)")
    func downgrade() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/b", resource)
            try await OriginServer.with(Self.encrypted) { secure in
                secure.serve("/a", Resource(size: 1))
                secure.always("/a", .redirect(to: shop.server.url("/b")))
                let url = try DownloadURL(secure.url("/a"))
                let outcome = try await shop.get(
                    "/b", engine: shop.engine(), { $0.transfer.insecure = true }, { $0.sources = [url] })
                #expect(outcome.error?.code == .refused)
                #expect(outcome.says("not encrypted") && outcome.says("--allow-downgrade"))
                #expect(shop.server.requests.isEmpty && shop.names == [])
                let allowed = try await shop.get(
                    "/b", engine: shop.engine(), { $0.transfer.insecure = true },
                    {
                        $0.sources = [url]
                        $0.trust.allowsDowngrade = true
                    })
                try shop.expect(allowed.file.path, is: resource)
            }
        }
    }

    @Test("Redirect: more than the request's maximum are refused, and as many are followed")
    func maximum() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a", resource)
            shop.server.always("/a", .redirectChain(2))
            for (most, isEnough) in [(0, false), (1, false), (2, true)] {
                let outcome = try await shop.get("/a", { _ in }) { $0.maxRedirects = most }
                #expect((outcome.error == nil) == isEnough, "\(most)")
                if !isEnough {
                    #expect(outcome.error?.message.contains("more than \(most) redirects") == true)
                    #expect(outcome.error?.suggestion?.contains("--max-redirects") == true)
                } else {
                    try shop.expect(outcome.file.path, is: resource)
                }
            }
        }
    }

    /// The part of the origin that the redirect changes.
    enum Elsewhere: CaseIterable { case host, port, scheme }

    @Test(
        "Redirect: another host, port or scheme gets no secrets, user info or Referer (A35)",
        arguments: Elsewhere.allCases, [false, true])
    func otherOrigin(elsewhere: Elsewhere, isResumed: Bool) async throws {
        let first = elsewhere == .scheme ? Self.encrypted : OriginServer.Configuration()
        try await Workshop.run(first) { shop in
            try await OriginServer.with { other in
                let resource = Resource(size: 6_000_000)
                let target = elsewhere == .host ? shop.server : other
                target.serve("/b", resource)
                if isResumed { target.script("/b", [.cut(after: 2_000_000)]) }
                shop.server.serve("/a", Resource(size: 1))
                var link = target.url("/b", host: elsewhere == .host ? "localhost" : nil)
                link.replace("://", with: "://eve:trap@")
                shop.server.always("/a", .redirect(to: link).and(.basicAuth("me", "secret")))
                let token = try #require(HTTPField.Name("X-Token"))
                let outcome = try await shop.get("/a", engine: shop.engine(), { $0.transfer.insecure = true }) {
                    $0.credentials = Credentials(user: "me", password: "secret")
                    $0.headers[.cookie] = "session=secret"
                    $0.headers[token] = "secret"
                    $0.headers[.userAgent] = "mine"
                    $0.trust.allowsDowngrade = true
                }
                try shop.expect(outcome.file.path, is: resource)
                let (asked, led) = (
                    shop.server.traffic.requests(for: "/a"), target.traffic.requests(for: "/b")
                )
                #expect(!asked.isEmpty && led.count == (isResumed ? 2 : 1))
                for request in asked {
                    #expect(request.head["Cookie"] == "session=secret")
                    #expect(request.head["X-Token"] == "secret")
                }
                #expect(asked.contains { $0.head["Authorization"] == "Basic bWU6c2VjcmV0" })
                for request in led {
                    for name in ["Authorization", "Cookie", "X-Token", "Referer"] {
                        #expect(request.head[name] == nil, "\(name)")
                    }
                    #expect(request.head["Accept-Encoding"] == "identity")
                }
                #expect(!outcome.reasons.joined().contains("secret"))
            }
        }
    }

    /// Deliberate: a cookie belongs to its host with any port (RFC 6265 §8.5), so that sites can sign in on one port
    /// and serve on another. A header of the user is for its origin alone.
    @Test("Redirect: a server's cookie goes to another port of its host, never to another host (A35)")
    func cookies() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                let resource = Resource(size: 10_000)
                for server in [shop.server, other] { server.serve("/b", resource) }
                shop.server.serve("/a", Resource(size: 1))
                shop.server.always("/a", .redirect(to: other.url("/b"), setCookie: "session=1; Path=/"))
                _ = try await shop.get("/a").file
                #expect(other.requests.last?.head["Cookie"] == "session=1")
                shop.server.always(
                    "/a", .redirect(to: shop.server.url("/b", host: "localhost"), setCookie: "session=1; Path=/"))
                _ = try await shop.get("/a", { _ in }, { $0.destination = .file(shop.path("c")) }).file
                #expect(shop.server.traffic.requests(for: "/b").last?.head["Cookie"] == nil)
            }
        }
    }

    @Test(
        "Expired link: the original link is requested again, and the bytes are kept (A36)",
        arguments: [403, 404, 410])
    func expiring(status: Int) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 12_000_000)
            shop.server.serveExpiring("/link", to: "/data", resource, hits: 1, status: status)
            shop.server.script("/data", [.cut(after: 5_000_000), .honest, .cut(after: 2_000_000)])
            let outcome = try await shop.get("/link", engine: shop.engine(), { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.restartReason == nil)
            #expect(outcome.says("requesting the original link again"))
            // Only the bodies of refusals are received besides the file.
            #expect(shop.server.bodyBytes() < resource.size + 1000)
        }
    }

    @Test("Expired link: a fresh link to another file is noticed, and the new file is fetched whole (A36)")
    func expiredToAnother() async throws {
        try await Workshop.run { shop in
            let (old, new) = (Resource(size: 12_000_000), Resource(size: 12_000_000, seed: 5))
            shop.server.serveExpiring("/link", to: "/data", old, hits: 1)
            shop.server.script(
                "/data", [.cut(after: 5_000_000)],
                then: .version {
                    $0 = new
                    $0.lastModified = Date(timeIntervalSince1970: 1_720_000_000)
                })
            let outcome = try await shop.get("/link", engine: shop.engine(), { _ in }, { $0.maxConnections = 1 })
            try shop.expect(outcome.file.path, is: new)
            #expect(outcome.restartReason?.contains("ETag") == true)
        }
    }

    @Test("Retry-After: seconds and dates are obeyed, and the wait is capped at six hours (A38)", arguments: [0, 1, 2])
    func wishes(kind: Int) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 10_000))
            let busy: Behaviour =
                switch kind {
                case 0: .status(503, retryAfter: "3000")
                case 1: .status(429, retryAfter: Date(timeIntervalSinceNow: 3000))
                default: .status(503, retryAfter: "99999999999999999999")
                }
            shop.server.script("/a", [busy])
            let clock = JumpingClock()
            let manager = shop.manager(engine: shop.engine(clock: clock))
            let begun = Date()
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(download) { if case .waiting(.retry) = $0 { true } else { false } }
            guard case .waiting(.retry(let date)) = download.status.state else {
                Issue.record("\(download.status.state)")
                return
            }
            let wait = date.timeIntervalSince(begun)
            #expect(kind == 2 ? (21_600...22_600).contains(wait) : (2_900...4_000).contains(wait), "\(wait)")
            #expect(shop.server.requests.count == 1)
            clock.jump(.seconds(21_601))
            _ = try await download.finished()
            await manager.shutdown()
        }
    }
}
